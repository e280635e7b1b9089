import { expect, test } from "vitest";
import { ModelThread } from "../../src/speech/model-thread.ts";

/** Answers "x" with "x!" after a moment; "die" ends the thread. */
const MODULE = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from "node:worker_threads";
    parentPort.on("message", (question) => {
      if (question === "die") process.exit(1);
      if (question === "fail") parentPort.postMessage({ error: "no" });
      else setTimeout(() => parentPort.postMessage({ value: question + "!" }), 50);
    });
    parentPort.postMessage({ value: undefined });
  `)}`,
);

function startThread() {
  const thread = new ModelThread<string, string>({ name: "the model", module: MODULE, workerData: undefined });
  return Object.assign(thread, { [Symbol.asyncDispose]: () => thread.close() });
}

test("a request that is aborted while it is processed does not affect the next one's answer", async () => {
  await using thread = startThread();
  await thread.warm();
  const aborting = new AbortController();
  const first = thread.ask("first", aborting.signal).catch(() => {});
  const second = thread.ask("second");
  aborting.abort();

  expect(await second).toBe("second!");
  await first;
});

test("a waiting request that is aborted is not processed", async () => {
  await using thread = startThread();
  const aborting = new AbortController();
  const first = thread.ask("first");
  const second = thread.ask("second", aborting.signal);
  aborting.abort(new Error("not needed"));

  await expect(second).rejects.toThrow("not needed");
  expect(await first).toBe("first!");
});

test("a thread that dies fails only the request it worked on", async () => {
  await using thread = startThread();
  const lost = thread.ask("die");
  const next = thread.ask("next");

  await expect(lost).rejects.toThrow("the worker thread of the model exited");
  expect(await next).toBe("next!");
});

test("a request that fails reports why, and the next one is answered", async () => {
  await using thread = startThread();

  await expect(thread.ask("fail")).rejects.toThrow("the model failed: no");
  expect(await thread.ask("next")).toBe("next!");
});

test("a thread that is closed answers nothing", async () => {
  await using thread = startThread();
  await thread.close();

  await expect(thread.ask("late")).rejects.toThrow("the model is closed");
});
