import { createInterface } from "node:readline";
import type { Parley } from "../../client/index.ts";
import type { TerminalForms } from "./terminal-forms.ts";

interface Terminal {
  readonly isJson: boolean;
  readonly timeoutMs: number;
  readonly forms: TerminalForms;
  /** Receives the prompt. It is not stdout, which gets only events. */
  readonly output: NodeJS.WritableStream;
  readonly onFailed: (error: unknown) => void;
}

/**
 * Sends each line as a message. While a call waits for permission or a form for a field, the line answers that instead.
 * Resolves when the input and the last turn have ended, or on a Ctrl-C when no turn is running or an earlier Ctrl-C has
 * already stopped it.
 */
export async function readLines(parley: Parley, terminal: Terminal): Promise<void> {
  const { isJson, timeoutMs, forms, output, onFailed } = terminal;
  const isTerminal = process.stdin.isTTY === true && !isJson;
  const lines = createInterface({ input: process.stdin, output, terminal: isTerminal, prompt: "> " });
  const leave = new AbortController();
  const over = Promise.withResolvers<void>();
  const waiting: string[] = [];
  let questions: readonly string[] = [];
  let turn: "none" | "running" | "stopped" = "none";
  let isEnded = false;

  const answer = (id: string, line: string) => {
    const response = readResponse(line);
    if (!response) {
      output.write("Answer y, a or n.\n");
      return;
    }
    questions = questions.filter((question) => question !== id);
    parley.respondToPermission(id, response).catch(onFailed);
  };
  const ask = async (line: string) => {
    turn = "running";
    await parley.ask(line, { timeoutMs, signal: leave.signal }).catch((error: unknown) => {
      if (!leave.signal.aborted) onFailed(error);
    });
    turn = "none";
    questions = [];
    next();
  };
  const next = (): void => {
    if (leave.signal.aborted || (isEnded && turn === "none" && waiting.length === 0)) return over.resolve();
    const [question] = questions;
    if (question === undefined && !forms.isAsking && turn !== "none") return;
    const line = waiting.shift();
    if (line === undefined) return isTerminal ? lines.prompt() : undefined;
    if (question !== undefined) answer(question, line);
    else if (forms.isAsking) forms.take(line);
    else if (line.trim() !== "") return void ask(line);
    next();
  };
  const onInterrupt = () => {
    if (turn === "running") {
      turn = "stopped";
      parley.stop();
    } else {
      leave.abort(new Error("Interrupted"));
      lines.close();
    }
  };
  // In a terminal, readline handles Ctrl-C. Otherwise the process gets a signal.
  lines.on("SIGINT", onInterrupt);
  process.on("SIGINT", onInterrupt);
  lines.on("line", (line) => {
    waiting.push(line);
    next();
  });
  lines.on("close", () => {
    isEnded = true;
    next();
  });
  const offs = [
    parley.on("permission_request", ({ id }) => {
      if (!questions.includes(id)) questions = [...questions, id];
      next();
    }),
    parley.on("permission_closed", ({ id }) => {
      questions = questions.filter((question) => question !== id);
    }),
  ];
  forms.onAsked = next;
  next();
  await over.promise;
  for (const off of offs) off();
  process.off("SIGINT", onInterrupt);
  lines.close();
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
