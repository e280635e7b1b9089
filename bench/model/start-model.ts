import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { FromModel, ModelCall } from "./messages.ts";
import { programEnvironment } from "../../src/tool/program-environment.ts";

export interface Model extends AsyncDisposable {
  readonly url: string;
  /** Returns the model's calls since `takeCalls` was last called, by question id. Each list is in order of arrival. */
  readonly takeCalls: () => Promise<ReadonlyMap<string, readonly ModelCall[]>>;
}

/** The text that the model's recognizer always returns. */
export const SPOKEN_QUESTION = "What time is it?";

/**
 * Starts the model in its own process, so that the model and the participants do not delay each other.
 *
 * @param options.slowMs the delay before an answer starts
 */
export async function startModel({ slowMs = 0 } = {}): Promise<Model> {
  const child = fork(fileURLToPath(new URL("server.ts", import.meta.url)), [String(slowMs)], {
    env: programEnvironment(),
  });
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
