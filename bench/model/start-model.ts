import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { FromModel, ModelCall } from "./messages.ts";

export interface Model extends AsyncDisposable {
  readonly url: string;
  /** The calls since this was asked last, by the question's mark, in the order in which they came. */
  readonly takeCalls: () => Promise<ReadonlyMap<string, readonly ModelCall[]>>;
}

/** What its recogniser understands, whatever it hears. */
export const SPOKEN_QUESTION = "What time is it?";

/**
 * The model in a process of its own, so that its work and that of the participants do not wait for each other.
 *
 * @param options.slowMs to the first word of an answer
 */
export async function startModel({ slowMs = 0 } = {}): Promise<Model> {
  const child = fork(fileURLToPath(new URL("server.ts", import.meta.url)), [String(slowMs)]);
  const next = async () => ((await once(child, "message")) as [FromModel])[0];
  const ready = await next();
  if (ready.type !== "ready") throw new Error("The model did not start");
  return {
    url: `http://127.0.0.1:${ready.port}`,
    async takeCalls() {
      child.send("calls");
      const answer = await next();
      return Map.groupBy(answer.type === "calls" ? answer.calls : [], ({ id }) => id);
    },
    async [Symbol.asyncDispose]() {
      const exited = once(child, "exit");
      child.disconnect();
      await exited;
    },
  };
}
