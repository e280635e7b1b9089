import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** A program that was started by commands in a terminal and is still running. */
export interface RunningProgram {
  /** Everything printed until the program was ready. */
  readonly printed: string;
  /** Presses Ctrl-C. Resolves once all of its processes have exited. */
  readonly stop: () => Promise<void>;
}

/** A person's terminal, for typing what a page says. */
export class Terminal {
  readonly #env: NodeJS.ProcessEnv;
  folder: string;

  constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.folder = folder;
    this.#env = env;
  }

  /** Types commands, and waits until they have ended. @returns everything they print. @throws {Error} when one fails */
  async type(commands: string): Promise<string> {
    const { child, output } = this.#spawn(commands);
    const [code] = (await once(child, "close")) as [number | null];
    if (code !== 0) throw new Error(`This ended with status ${code}:\n${commands}\n${output()}`);
    return output();
  }

  /** Types commands, the last of which keeps running. Resolves once this last command has printed the ready line. */
  async typeAndLeaveRunning(commands: string): Promise<RunningProgram> {
    const { child, output } = this.#spawn(commands);
    const closed = once(child, "close");
    const ready = Promise.withResolvers<void>();
    child.stderr?.on("data", () => output().includes("parley: ready: ") && ready.resolve());
    void closed.then(() => ready.reject(new Error(`This ended before it was ready:\n${commands}\n${output()}`)));
    await ready.promise;
    const stop = async () => {
      // A terminal sends Ctrl-C to all processes in the group.
      if (child.exitCode === null && child.signalCode === null) process.kill(-Number(child.pid), "SIGINT");
      await closed;
    };
    return { printed: output(), stop };
  }

  #spawn(commands: string): { readonly child: ChildProcess; readonly output: () => string } {
    const args = ["-e", "-c", commands];
    const child = spawn("bash", args, {
      cwd: this.folder,
      env: this.#env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let printed = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (printed += chunk.toString()));
    return { child, output: () => printed };
  }
}
