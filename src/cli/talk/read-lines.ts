import { createInterface } from "node:readline";
import { type Parley } from "../../client/index.ts";

interface Terminal {
  readonly isJson: boolean;
  readonly timeoutMs: number;
  /** Where the prompt goes, so that stdout holds events alone with `--json`. */
  readonly output: NodeJS.WritableStream;
  readonly onFailed: (error: unknown) => void;
}

/** One turn a line until the input ends, or Ctrl-C comes while no answer is given. Resolves when the last turn ended. */
export async function readLines(parley: Parley, { isJson, timeoutMs, output, onFailed }: Terminal): Promise<void> {
  const isTerminal = process.stdin.isTTY === true && !isJson;
  const lines = createInterface({ input: process.stdin, output, terminal: isTerminal, prompt: "> " });
  const prompt = () => {
    if (isTerminal) lines.prompt();
  };
  const onInterrupt = () => {
    if (parley.isAnswering) parley.stop({ reason: "the participant pressed Ctrl-C" });
    else lines.close();
  };
  // readline takes Ctrl-C for itself in a terminal; elsewhere it is a signal.
  lines.on("SIGINT", onInterrupt);
  process.on("SIGINT", onInterrupt);
  try {
    prompt();
    for await (const line of lines) {
      if (line.trim() !== "") await parley.ask(line, { timeoutMs }).catch(onFailed);
      prompt();
    }
  } finally {
    process.off("SIGINT", onInterrupt);
    lines.close();
  }
}
