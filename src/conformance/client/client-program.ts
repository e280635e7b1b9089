import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { isRecord } from "../../lib/json.ts";
import { Inbox } from "../wire/inbox.ts";

/** A line that the client's program prints. docs/conformance.md lists the events. */
export interface ProgramEvent {
  readonly event: string;
  readonly [field: string]: unknown;
}

const KEPT_ERROR_LINES = 10;
const LEAVES_WITHIN_MS = 1_500;
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) kill(child);
});

/** The process of the client under test. It prints events and reads commands from stdin. */
export class ClientProgram implements AsyncDisposable {
  readonly events = new Inbox<ProgramEvent>();
  /** Resolves to the reason why the process ended. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;

  /** @param environment the complete environment: the client under test inherits nothing from the kit's */
  constructor([program = "", ...args]: readonly string[], environment: NodeJS.ProcessEnv) {
    // Start the program in its own process group. `kill` then also ends a client that `npx` or `go run` started as a
    // child process.
    const child = spawn(program, args, { env: environment, detached: true });
    this.#child = child;
    running.add(child);
    const lastErrors: string[] = [];
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (lastErrors.push(line) > KEPT_ERROR_LINES) lastErrors.shift();
    });
    createInterface({ input: child.stdout }).on("line", (line) => {
      const event = readEvent(line);
      if (event) this.events.add(event);
    });
    child.stdin.on("error", () => {});
    const { promise, resolve } = Promise.withResolvers<string>();
    child.once("error", (error) => resolve(`the client program could not be started: ${error.message}`));
    child.once("close", (code, signal) => {
      const said = lastErrors.length === 0 ? "" : `, stderr:\n${lastErrors.join("\n")}`;
      resolve(`the client program exited with ${signal ?? `status ${code}`}${said}`);
    });
    this.ended = promise.then((why) => {
      running.delete(child);
      this.events.end(why);
      return why;
    });
  }

  command(command: { readonly command: string; readonly [field: string]: unknown }): void {
    this.#child.stdin?.write(`${JSON.stringify(command)}\n`);
  }

  /** Returns all events of a kind so far. */
  all(event: string): ProgramEvent[] {
    return this.events.items.filter((each) => each.event === event);
  }

  async next(
    event: string,
    fits: (event: ProgramEvent) => boolean = () => true,
    withinMs?: number,
  ): Promise<ProgramEvent> {
    const what = `the event "${event}" of the client program`;
    return this.events.next((events) => events.find((each) => each.event === event && fits(each)), what, withinMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin?.end();
    const timer = setTimeout(() => kill(this.#child), LEAVES_WITHIN_MS);
    await this.ended;
    clearTimeout(timer);
    // Also kills the processes that the client started.
    kill(this.#child);
  }
}

function kill({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The process has already exited.
  }
}

function readEvent(line: string): ProgramEvent | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) && typeof value["event"] === "string" ? (value as ProgramEvent) : undefined;
  } catch {
    return undefined;
  }
}
