import { expect, test } from "vitest";
import { ModelThread } from "../../src/speech/model-thread.ts";
import type { AskOptions } from "../../src/speech/speech-model.ts";

/**
 * Answers "x" with "x!" after a moment; "die" ends the thread. A list is answered part by part, and 0 takes a moment
 * without a part. Each number is the milliseconds that the part is heard.
 */
const MODULE = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { serveModel } from ${JSON.stringify(new URL("../../src/speech/serve-model.ts", import.meta.url).href)};
    serveModel(async function* (question) {
      for (const part of [question].flat()) {
        if (part === "die") process.exit(1);
        if (part === "fail") throw new Error("no");
        await new Promise((resolve) => setTimeout(resolve, 50));
        yield part === 0 ? undefined : typeof part === "number" ? part : part + "!";
      }
    });
  `)}`,
);

type Question = string | (string | number)[];

function startThread() {
  const soundMs = (part: string | number) => Number(part) || 0;
  const thread = new ModelThread<Question, string | number>({
    name: "the model",
    module: MODULE,
    workerData: undefined,
    soundMs,
  });
  const ask = (question: Question, options?: AskOptions) => Array.fromAsync(thread.ask(question, options));
  return { thread, ask, warm: () => thread.warm(), [Symbol.asyncDispose]: () => thread.close() };
}

test("a request that is aborted while it is processed does not affect the next one's answer", async () => {
  await using thread = startThread();
  await thread.warm();
  const aborting = new AbortController();
  const first = thread.ask("first", { signal: aborting.signal }).catch(() => {});
  const second = thread.ask("second");
  aborting.abort();

  expect(await second).toEqual(["second!"]);
  await first;
});

test("a waiting request that is aborted is not processed", async () => {
  await using thread = startThread();
  const aborting = new AbortController();
  const first = thread.ask("first");
  const second = thread.ask("second", { signal: aborting.signal });
  aborting.abort(new Error("not needed"));

  await expect(second).rejects.toThrow("not needed");
  expect(await first).toEqual(["first!"]);
});

test("a thread that dies fails only the request it worked on", async () => {
  await using thread = startThread();
  const lost = thread.ask("die");
  const next = thread.ask("next");

  await expect(lost).rejects.toThrow("the worker thread of the model exited");
  expect(await next).toEqual(["next!"]);
});

test("a request that fails reports why, and the next one is answered", async () => {
  await using thread = startThread();

  await expect(thread.ask("fail")).rejects.toThrow("the model failed: Error: no");
  expect(await thread.ask("next")).toEqual(["next!"]);
});

test("a thread that is closed answers nothing", async () => {
  await using thread = startThread();
  await thread.thread.close();

  await expect(thread.ask("late")).rejects.toThrow("the model is closed");
});

test("the parts of an answer arrive one by one", async () => {
  await using thread = startThread();
  const startedAt = performance.now();
  const times: number[] = [];
  for await (const _part of thread.thread.ask(["a", "b", "c"])) times.push(performance.now() - startedAt);

  expect(times).toHaveLength(3);
  expect((times[2] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(90);
});

test("the first part of an answer goes before later parts of an answer that is heard for long enough", async () => {
  await using thread = startThread();
  const order: string[] = [];
  const follow = async (name: string, parts: number[]) => {
    for await (const part of thread.thread.ask(parts)) order.push(`${name} ${part}`);
  };
  await thread.warm();
  await Promise.all([follow("first", [5_000, 1, 2]), follow("second", [6_000, 3])]);

  expect(order).toEqual(["first 5000", "second 6000", "first 1", "first 2", "second 3"]);
});

test("the first part of an answer waits for a part without which another answer would have a gap", async () => {
  await using thread = startThread();
  const order: string[] = [];
  const follow = async (name: string, parts: number[]) => {
    for await (const part of thread.thread.ask(parts)) order.push(`${name} ${part}`);
  };
  await thread.warm();
  await Promise.all([follow("first", [10, 5_000, 1]), follow("second", [6_000])]);

  expect(order).toEqual(["first 10", "first 5000", "second 6000", "first 1"]);
});

test("a reader that stops early cancels the rest of the answer", async () => {
  await using thread = startThread();
  for await (const _part of thread.thread.ask(["a", "fail"])) break;

  expect(await thread.ask("next")).toEqual(["next!"]);
});

test("a thread that dies fails all answers that it has begun", async () => {
  await using thread = startThread();
  const begun = thread.thread.ask([5_000, "b"]);
  await begun.next();
  const lost = thread.ask("die");

  await expect(lost).rejects.toThrow("the worker thread of the model exited");
  await expect(begun.next()).rejects.toThrow("the worker thread of the model exited");
});

test("an optional question is dropped while the model works on another", async () => {
  await using thread = startThread();
  await thread.warm();
  const other = thread.ask("other");

  expect(await thread.ask("optional", { isOptional: true })).toEqual([]);
  expect(await other).toEqual(["other!"]);
  expect(await thread.ask("optional", { isOptional: true })).toEqual(["optional!"]);
});

test("an optional question is dropped at its next step when another question comes", async () => {
  await using thread = startThread();
  await thread.warm();
  const startedAt = performance.now();
  const optional = thread.ask([...Array.from({ length: 40 }, () => 0), "late"], { isOptional: true });
  const other = thread.ask("other");

  expect(await other).toEqual(["other!"]);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  expect(await optional).toEqual([]);
});

test("optional questions take no more than a quarter of the thread's time", async () => {
  await using thread = startThread();
  await thread.warm();
  const answers: string[][] = [];
  const startedAt = performance.now();
  while (performance.now() - startedAt < 1_000)
    answers.push((await thread.ask("optional", { isOptional: true })).map(String));

  // An answer takes 50 ms.
  const count = answers.filter((parts) => parts.length > 0).length;
  expect(count).toBeGreaterThan(0);
  expect(count).toBeLessThanOrEqual(6);
});
