import { createInterface } from "node:readline";
import { type Parley } from "../../client/index.ts";

interface Terminal {
  readonly isJson: boolean;
  readonly timeoutMs: number;
  /** Where the prompt goes, so that stdout holds events alone. */
  readonly output: NodeJS.WritableStream;
  readonly onFailed: (error: unknown) => void;
}

/** One turn a line. Resolves when the input has ended and the last turn too, or on Ctrl-C while nothing is being said. */
export async function readLines(parley: Parley, { isJson, timeoutMs, output, onFailed }: Terminal): Promise<void> {
  const isTerminal = process.stdin.isTTY === true && !isJson;
  const lines = createInterface({ input: process.stdin, output, terminal: isTerminal, prompt: "> " });
  const leave = new AbortController();
  let turn: "none" | "running" | "stopped" = "none";
  const onInterrupt = () => {
    if (turn === "running") {
      turn = "stopped";
      parley.stop();
    } else {
      leave.abort(new Error("Interrupted"));
      lines.close();
    }
  };
  const prompt = () => {
    if (isTerminal && !leave.signal.aborted) lines.prompt();
  };
  // readline takes Ctrl-C for itself in a terminal; elsewhere it is a signal.
  lines.on("SIGINT", onInterrupt);
  process.on("SIGINT", onInterrupt);
  try {
    prompt();
    for await (const line of lines) {
      if (leave.signal.aborted) return;
      if (line.trim() !== "") {
        turn = "running";
        await parley.ask(line, { timeoutMs, signal: leave.signal }).catch((error: unknown) => {
          if (!leave.signal.aborted) onFailed(error);
        });
        turn = "none";
      }
      prompt();
    }
  } finally {
    process.off("SIGINT", onInterrupt);
    lines.close();
  }
}
