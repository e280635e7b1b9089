import { createInterface, type Interface } from "node:readline";
import type { Parley } from "../../client/index.ts";
import type { TerminalForms } from "./terminal-forms.ts";

interface Terminal {
  readonly isJson: boolean;
  readonly timeoutMs: number;
  readonly forms: TerminalForms;
  /** The stream that receives the prompt. It must not be stdout, which receives only events. */
  readonly output: NodeJS.WritableStream;
  readonly onFailed: (error: unknown) => void;
}

/**
 * Sends each line as a message. While a permission request or a form field is open, a line answers it instead. Resolves
 * when the input and the last turn have ended. The first Ctrl-C stops the running turn. If no turn is running, or
 * Ctrl-C has already stopped it, Ctrl-C ends `readLines`.
 */
export async function readLines(parley: Parley, terminal: Terminal): Promise<void> {
  await new LineReader(parley, terminal).untilOver();
}

class LineReader {
  readonly #parley: Parley;
  readonly #terminal: Terminal;
  readonly #isTerminal: boolean;
  readonly #lines: Interface;
  readonly #leave = new AbortController();
  readonly #over = Promise.withResolvers<void>();
  readonly #waiting: string[] = [];
  #questions: readonly string[] = [];
  #turn: "none" | "running" | "stopped" = "none";
  #isEnded = false;

  constructor(parley: Parley, terminal: Terminal) {
    const { isJson, output, forms } = terminal;
    this.#parley = parley;
    this.#terminal = terminal;
    this.#isTerminal = process.stdin.isTTY === true && !isJson;
    this.#lines = createInterface({ input: process.stdin, output, terminal: this.#isTerminal, prompt: "> " });
    forms.onAsked = () => this.#next();
  }

  async untilOver(): Promise<void> {
    const onInterrupt = () => this.#interrupt();
    // In a terminal, readline handles Ctrl-C. Otherwise the process receives a signal.
    this.#lines.on("SIGINT", onInterrupt);
    process.on("SIGINT", onInterrupt);
    this.#lines.on("line", (line) => {
      this.#waiting.push(line);
      this.#next();
    });
    this.#lines.on("close", () => {
      this.#isEnded = true;
      this.#next();
    });
    const offs = [
      this.#parley.on("permission_request", ({ id }) => {
        if (!this.#questions.includes(id)) this.#questions = [...this.#questions, id];
        this.#next();
      }),
      this.#parley.on("permission_closed", ({ id }) => this.#dropQuestion(id)),
    ];
    this.#next();
    await this.#over.promise;
    for (const off of offs) off();
    process.off("SIGINT", onInterrupt);
    this.#lines.close();
  }

  #next(): void {
    const isDone = this.#isEnded && this.#turn === "none" && this.#waiting.length === 0;
    if (this.#leave.signal.aborted || isDone) return this.#over.resolve();
    const { forms } = this.#terminal;
    const [question] = this.#questions;
    if (question === undefined && !forms.isAsking && this.#turn !== "none") return;
    const line = this.#waiting.shift();
    if (line === undefined) return this.#isTerminal ? this.#lines.prompt() : undefined;
    if (question !== undefined) this.#answer(question, line);
    else if (forms.isAsking) forms.take(line);
    else if (line.trim() !== "") return void this.#ask(line);
    this.#next();
  }

  #answer(id: string, line: string): void {
    const { output, onFailed } = this.#terminal;
    const response = readResponse(line);
    if (!response) {
      output.write("Answer y, a or n.\n");
      return;
    }
    this.#dropQuestion(id);
    this.#parley.respondToPermission(id, response).catch(onFailed);
  }

  async #ask(line: string): Promise<void> {
    const { timeoutMs, onFailed } = this.#terminal;
    const { signal } = this.#leave;
    this.#turn = "running";
    await this.#parley.ask(line, { timeoutMs, signal }).catch((error: unknown) => {
      if (!signal.aborted) onFailed(error);
    });
    this.#turn = "none";
    this.#questions = [];
    this.#next();
  }

  #dropQuestion(id: string): void {
    this.#questions = this.#questions.filter((question) => question !== id);
  }

  #interrupt(): void {
    if (this.#turn === "running") {
      this.#turn = "stopped";
      this.#parley.stop();
    } else {
      this.#leave.abort(new Error("Interrupted"));
      this.#lines.close();
    }
  }
}

function readResponse(line: string): "once" | "always" | "reject" | undefined {
  switch (line.trim().toLowerCase()) {
    case "y":
    case "yes":
      return "once";
    case "a":
    case "always":
      return "always";
    case "n":
    case "no":
      return "reject";
    default:
      return undefined;
  }
}
