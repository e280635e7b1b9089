import { monitorEventLoopDelay } from "node:perf_hooks";
import { expect, test, vi } from "vitest";
import type { PermissionAsk, ToolContext } from "../../src/tool/define-tool.ts";
import { loadTools } from "../../src/tool/load-tools.ts";
import { PermissionDenied } from "../../src/tool/permission-denied.ts";
import { readReturned, UnusableResult } from "../../src/tool/results/read-result.ts";
import { LiveState } from "../../src/session/state/live-state.ts";
import { PNG } from "../support/pictures.ts";

// Each run's thread loads the tool's file again, which takes time on two busy cores.
vi.setConfig({ testTimeout: 20_000 });

const tools = await loadTools("test/fixtures/isolated", { work: { unit: "km" } });

function run(what: string, changes: Partial<ToolContext> = {}) {
  const reported: unknown[] = [];
  const context = {
    signal: new AbortController().signal,
    callId: "call",
    idempotencyKey: "key",
    participant: "ann",
    room: "kitchen",
    roomSid: "RM_1",
    sessionId: "session",
    session: { get: () => ({}), set: () => {}, update: () => {} },
    agent: "default",
    attributes: {},
    log: (line: string) => void reported.push(line),
    progress: (fraction: number) => void reported.push(fraction),
    ask: async (request: PermissionAsk) => void reported.push(request),
    elicit: () => Promise.resolve({ action: "cancel" } as const),
    traceHeaders: {},
    ...changes,
  };
  return { reported, result: tools.get("work")?.run?.({ what }, context) as Promise<unknown> };
}

test("a tool in its own thread has its settings and context, logs, reports progress and returns its result", async () => {
  const { reported, result } = run("work");

  expect(await result).toEqual({ unit: "KM", callId: "call", room: "kitchen" });
  expect(reported).toEqual(["half way", 0.5]);
});

test("it changes the session's state, of which it receives a copy, field by field", async () => {
  const signal = new AbortController().signal;
  const live = new LiveState({ stored: { state: { kept: ["one"] }, version: 1 }, logger: { warn: () => {} } });
  const { result } = run("keep", { session: live.accessOf({ id: "call", signal }) });
  const meanwhile = live.accessOf({ id: "other", signal });
  meanwhile.set({ kept: ["one"], other: true });
  live.settle({ id: "other", turnId: "turn", state: "success" });

  expect(await result).toEqual({ kept: ["one", "it"] });
  live.settle({ id: "call", turnId: "turn", state: "success" });

  expect(live.value).toEqual({ kept: ["one", "it"], other: true });
});

test("it asks while it runs, and receives a no as PermissionDenied", async () => {
  const asked = { type: "edit", pattern: "a.md", title: "Edit a.md" };
  const { reported, result } = run("ask");
  await result;
  expect(reported).toEqual([asked, "half way", 0.5]);

  const ask = () => Promise.reject(new PermissionDenied("Not allowed: no"));
  await expect(run("ask", { ask }).result).rejects.toThrow(new PermissionDenied("Not allowed: no"));
});

test("a picture that it returns leaves its thread as one", async () => {
  const { outcome, media } = readReturned(await run("show").result);

  expect(outcome).toMatchObject({ state: "success", content: [{ type: "image" }] });
  expect(media.map(({ bytes }) => Buffer.from(bytes))).toEqual([Buffer.from(PNG)]);
});

test("it makes somebody fill in a form, and its own schema parses the answer", async () => {
  const asked: unknown[] = [];
  const elicit = (async (request) => {
    asked.push(request);
    return { action: "accept", content: { far: "12" } };
  }) as ToolContext["elicit"];

  expect(await run("elicit", { elicit }).result).toEqual({ action: "accept", content: { far: 12 } });
  expect(asked).toMatchObject([{ message: "How far?", schema: { type: "object", properties: { far: {} } } }]);
  const refused = () => Promise.reject(new Error("The call has ended"));
  await expect(run("elicit", { elicit: refused }).result).rejects.toThrow("The call has ended");
});

test.each([
  ["throw", "It does not work"],
  ["grow", "The tool used more than 256 MB of memory"],
  ["fill", "The tool used more than 256 MB of memory"],
  ["exit", "The tool exited its worker thread"],
])("a tool that does %j fails with a message, and nothing else ends", async (what, message) => {
  await expect(run(what).result).rejects.toThrow(message);
});

test("a tool that computes without a pause delays nobody, and is ended with its call", async () => {
  const stop = new AbortController();
  const { result } = run("spin", { signal: stop.signal });
  const ended = result.catch((error: unknown) => error);
  const startedAt = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(performance.now() - startedAt).toBeLessThan(3_000);

  stop.abort(new Error("The call has ended"));

  expect(await ended).toEqual(new Error("The tool exited its worker thread"));
});

test.each(["log", "progress"])("a tool that does %j in a loop delays nobody", async (what) => {
  const stop = new AbortController();
  const begun = Promise.withResolvers<void>();
  const note = () => begun.resolve();
  const { result } = run(what, { signal: stop.signal, log: note, progress: note });
  const ended = result.catch((error: unknown) => error);
  await begun.promise;
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  delay.disable();
  stop.abort(new Error("The call has ended"));

  expect(await ended).toBeInstanceOf(Error);
  expect(delay.max / 1e6).toBeLessThan(500);
});

test("a question that is too large is refused in the tool's thread, and nobody is asked", async () => {
  const { reported, result } = run("ask much");

  await expect(result).rejects.toThrow("ask: over 10485760 characters of JSON");
  expect(reported).toEqual([]);
});

test.each(["return much", "return long", "show long"])(
  "if a tool does %j the result is refused in its thread, and not sent",
  async (what) => {
    const returned = await run(what).result;

    expect(returned).toBeInstanceOf(UnusableResult);
    expect(readReturned(returned).outcome).toMatchObject({ state: "error", errorCode: "result_too_large" });
  },
);

test("from a small part of a large buffer only the part is sent", async () => {
  expect(await run("return a part").result).toEqual({ part: { base64: "AQ==" } });
});

test("a value without a JSON form fails the call, as for a tool that is not isolated", async () => {
  const errorMessage =
    "The tool has run, but its result cannot be used: result: a function cannot be represented in JSON";

  expect(await run("function").result).toMatchObject({ outcome: { errorCode: "execution_error", errorMessage } });
});

test("an error's message is truncated in the tool's thread", async () => {
  await expect(run("throw much").result).rejects.toThrow(/^x{16384}$/);
});

test("messages that a package sends from the tool's thread have no effect", async () => {
  expect(await run("post").result).toMatchObject({ unit: "KM" });
});

test("a tool is notified when its call has ended, with the reason", async () => {
  const stop = new AbortController();
  // Aborts only once the tool is waiting. If the thread were still loading, it would be ended without notifying the
  // tool.
  const log = () => stop.abort(new Error("The call has ended: timeout"));
  const { result } = run("wait", { signal: stop.signal, log });

  await expect(result).rejects.toThrow("The call has ended: timeout");
});
