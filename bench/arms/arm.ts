import { cpuOfTree } from "./processes.ts";
import { type LivekitServer, Talk, type ToolWay } from "./talk.ts";

/**
 * The agents that the benches compare. `floor` is not an agent: it stands for the minimum that any agent needs on the
 * same machine.
 */
export type ArmName = "parley" | "agents-js" | "agents-python" | "floor";

export const ARM_TITLES: Readonly<Record<ArmName, string>> = {
  parley: "Parley",
  "agents-js": "agents-js",
  "agents-python": "Python agents",
  floor: "floor",
};

interface ArmParts {
  readonly name: ArmName;
  readonly pid: number;
  readonly livekit: LivekitServer;
  readonly toolWay: ToolWay;
  /** Stops the agent, and then the services that it uses. */
  readonly cleanup: AsyncDisposableStack;
}

let rooms = 0;

/** One of the compared agents, running with its own livekit-server. */
export class Arm implements AsyncDisposable {
  readonly name: ArmName;
  readonly #parts: ArmParts;

  constructor(parts: ArmParts) {
    this.name = parts.name;
    this.#parts = parts;
  }

  get livekit(): LivekitServer {
    return this.#parts.livekit;
  }

  /** Joins a new room. */
  async join(question: "plain" | "tool"): Promise<Talk> {
    const { livekit, toolWay } = this.#parts;
    return Talk.join(livekit, `${this.name}-${process.pid}-${++rooms}`, question === "tool" ? toolWay : "none");
  }

  /**
   * Runs `work`. @returns the CPU time that the busiest process used meanwhile. This is the process that serves the
   * session
   */
  async cpuOf(work: () => Promise<void>): Promise<number> {
    const before = cpuOfTree(this.#parts.pid);
    await work();
    const after = cpuOfTree(this.#parts.pid);
    return Math.max(...[...after].map(([pid, cpuMs]) => cpuMs - (before.get(pid) ?? 0)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.cleanup.disposeAsync();
  }
}
