import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { createModel } from "../../src/llm/stream-message.ts";
import { startModelServer } from "../../src/model-server/model-server.ts";
import { destroySocket, httpError, noHeaders, reply, sseError, stallAfter, text } from "../../src/model-server/step.ts";
import { callModel, request, user } from "./call-model.ts";
import { forEachTest } from "../support/lifetimes.ts";

const server = forEachTest(startModelServer);

const listenerCount = (signal: AbortSignal) => getEventListeners(signal, "abort").length;
const rejectionOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
const streamOf = (signal: AbortSignal) =>
  createModel({ apiKey: "k", baseUrl: server.url }).stream(request([user("Hello")]), signal);

test("with a signal that is already aborted, nothing is sent", async () => {
  const reason = new Error("stop");

  await expect(streamOf(AbortSignal.abort(reason)).next()).rejects.toBe(reason);
  expect(server.requests).toHaveLength(0);
});

test("an abort before the headers rejects with the signal's own reason", async () => {
  server.script([noHeaders()]);
  const controller = new AbortController();
  const reason = new Error("interrupted");
  const rejection = rejectionOf(callModel(server.url, [user("Hello")], { signal: controller.signal }));
  await expect.poll(() => server.requests.length).toBe(1);
  controller.abort(reason);

  expect(await rejection).toBe(reason);
  await expect.poll(() => server.abortedCount).toBe(1);
  expect(listenerCount(controller.signal)).toBe(0);
});

test("an abort in the middle rejects with the reason and closes the request", async () => {
  server.script([reply([text("Some words")], { fault: stallAfter(3) })]);
  const controller = new AbortController();
  const reason = { not: "even an error" };
  const consume = async () => {
    for await (const event of streamOf(controller.signal)) {
      if (event.type === "block_delta") setTimeout(() => controller.abort(reason), 5);
    }
  };

  await expect(consume()).rejects.toBe(reason);
  await expect.poll(() => server.abortedCount).toBe(1);
  expect(listenerCount(controller.signal)).toBe(0);
});

test("after an abort no event is emitted, even if it was already read", async () => {
  server.script([reply([text("a".repeat(1000))], { chunking: 1 })]);
  const controller = new AbortController();
  let countAfter = 0;
  const consume = async () => {
    for await (const event of streamOf(controller.signal)) {
      if (controller.signal.aborted) countAfter++;
      if (event.type === "block_delta") controller.abort(new Error("stop"));
    }
  };

  await expect(consume()).rejects.toThrow("stop");
  expect(countAfter).toBe(0);
});

test("an abort ends the wait between two attempts", async () => {
  server.script([httpError(529, undefined, { "retry-after": "5" })]);
  const controller = new AbortController();
  const reason = new Error("stop");
  const rejection = rejectionOf(callModel(server.url, [user("Hello")], { signal: controller.signal }));
  await expect.poll(() => server.requests[0]?.state).toBe("ended");
  const start = performance.now();
  controller.abort(reason);

  expect(await rejection).toBe(reason);
  expect(performance.now() - start).toBeLessThan(500);
  expect(listenerCount(controller.signal)).toBe(0);
});

test("break cancels the request", async () => {
  server.script([reply([text("Some words")], { fault: stallAfter(3) })]);
  const { signal } = new AbortController();
  for await (const event of streamOf(signal)) if (event.type === "block_delta") break;

  await expect.poll(() => server.abortedCount).toBe(1);
  expect(listenerCount(signal)).toBe(0);
});

test("no call leaves a listener on a long-lived signal", async () => {
  const fast = { "retry-after-ms": "1" };
  server.script([
    reply([text("fine")]),
    httpError(529, undefined, fast),
    reply([text("fine")]),
    httpError(400),
    reply([text("cut")], { fault: destroySocket(3) }),
    reply([text("cut")], { fault: sseError(1) }),
    reply([text("fine")]),
  ]);
  const { signal } = new AbortController();
  for (let count = 0; count < 5; count++) {
    await callModel(server.url, [user("Hello")], { signal }).catch(() => {});
    expect(listenerCount(signal)).toBe(0);
  }
  expect(server.requests).toHaveLength(7);
});
