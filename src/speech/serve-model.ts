import { parentPort } from "node:worker_threads";
import type { Answered, Step } from "./model-thread.ts";

/**
 * Answers the questions of a `ModelThread`. Call this in the thread, after its model is loaded.
 *
 * @param answer yields the parts of an answer. Each `undefined` is a place where a short step may end
 */
export function serveModel<Question, Part>(
  answer: (question: Question) => AsyncGenerator<Part | undefined, void>,
): void {
  const running = new Map<number, AsyncGenerator<Part | undefined, void>>();
  const send = (answered: Answered<Part>) => parentPort?.postMessage(answered);

  async function advance({ id, question, isShort = false }: Step<Question>): Promise<Answered<Part>> {
    const parts = question === undefined ? running.get(id) : answer(question);
    if (!parts) return { error: `answer ${id} was cancelled` };
    running.set(id, parts);
    try {
      let next = await parts.next();
      while (!next.done && next.value === undefined && !isShort) next = await parts.next();
      if (!next.done) return { part: next.value, isComplete: false };
      running.delete(id);
      return { part: undefined, isComplete: true };
    } catch (error) {
      running.delete(id);
      return { error: String(error) };
    }
  }

  parentPort?.on("message", (step: Step<Question>) => {
    if (step.isCancelled) running.delete(step.id);
    else void advance(step).then(send);
  });
  send({ part: undefined, isComplete: true });
}
