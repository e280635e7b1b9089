import { parentPort } from "node:worker_threads";
import type { Answered } from "./model-thread.ts";

/** Answers the questions of a `ModelThread`. Call this in the thread, after its model is loaded. */
export function serveModel<Question, Value>(answer: (question: Question) => Promise<Value>): void {
  const send = (answered: Answered<Value | undefined>) => parentPort?.postMessage(answered);
  parentPort?.on("message", (question: Question) => {
    answer(question).then(
      (value) => send({ value }),
      (error: unknown) => send({ error: String(error) }),
    );
  });
  send({ value: undefined });
}
