import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { TalkEvent } from "../../../src/cli/talk/printer.ts";
import { ROOT } from "./containers.ts";
import { DEVELOPMENT_SECRET } from "./project.ts";

interface TalkOptions {
  readonly room: string;
  readonly secret?: string;
  readonly http?: string;
  /** A command that runs the program elsewhere, such as in another network. */
  readonly within?: readonly string[];
}

/** `npm run talk`, kept open: one participant who stays in its room whatever happens to the services. */
export class Talk implements AsyncDisposable {
  readonly events: TalkEvent[] = [];
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  #errors = "";

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#exited = once(child, "exit");
    if (!child.stdout || !child.stderr) throw new Error("It has no output");
    createInterface({ input: child.stdout }).on("line", (line) => this.events.push(JSON.parse(line) as TalkEvent));
    child.stderr.on("data", (chunk: Buffer) => (this.#errors += chunk.toString()));
  }

  /** Resolves once an agent has joined the room. @throws {Error} with the program's output, if none joins */
  static async open({ room, secret = DEVELOPMENT_SECRET, http, within = [] }: TalkOptions): Promise<Talk> {
    const program = [process.execPath, join(ROOT, "src/cli/parley.ts"), "talk", "--room", room, "--json"];
    const [command = "", ...args] = [...within, ...program, ...(http === undefined ? [] : ["--http", http])];
    const env = { ...process.env, TOKEN_SECRET: secret, NODE_ENV: "production" };
    const talk = new Talk(spawn(command, args, { cwd: ROOT, env, stdio: "pipe" }));
    await talk.#until(({ event }) => event === "joined", 60_000);
    return talk;
  }

  /**
   * Asks a question. Returns the text of the answer, and the time in ms until its end.
   *
   * @throws {Error} with the events since the question, if the answer is empty because the turn failed
   */
  async ask(text: string, timeoutMs = 60_000): Promise<{ readonly text: string; readonly ms: number }> {
    const from = performance.now();
    const seen = this.events.length;
    this.#child.stdin?.write(`${text}\n`);
    const end = await this.#until((event, index) => index >= seen && event.event === "turn_end", timeoutMs);
    if (end.event !== "turn_end" || end.text === "")
      throw new Error(`No answer: ${JSON.stringify(this.events.slice(seen))}`);
    return { text: end.text, ms: Math.round(performance.now() - from) };
  }

  async #until(wanted: (event: TalkEvent, index: number) => boolean, timeoutMs: number): Promise<TalkEvent> {
    const late = performance.now() + timeoutMs;
    for (;;) {
      const found = this.events.find((event, index) => wanted(event, index));
      if (found) return found;
      if (performance.now() > late || this.#child.exitCode !== null)
        throw new Error(`It saw ${JSON.stringify(this.events.slice(-5))} and said:\n${this.#errors}`);
      await sleep(50);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin?.end();
    this.#child.kill("SIGTERM");
    await this.#exited;
  }
}
