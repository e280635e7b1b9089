import { expect, test } from "vitest";
import type { Call } from "../../../src/conversation/call.ts";
import { encodeEnvelope } from "../../../src/protocol/codec/codec.ts";
import { callAsReported, toLiveCall } from "../../../src/session/events/live-event.ts";
import { toToolCallState } from "../../../src/session/calls/tool-call-state.ts";
import { failure, success } from "../../../src/tool/outcome.ts";
import { callOf } from "../../support/call.ts";

const metadataOf = (call: Call) => JSON.parse(toToolCallState(call)?.metadataJson ?? "{}") as unknown;

const running = callOf({
  executionAsked: "either",
  state: "running",
  executionResolved: "client",
  addressee: "bob",
  startedAt: 1_000,
  deadlineAt: 31_000,
  revision: 4,
  logs: ["one", "two"],
  progress: 0.5,
});

test("a pending call has no times, no output and no error", () => {
  expect(toToolCallState(callOf())).toEqual({
    id: "call",
    name: "scan",
    status: "pending",
    callId: "call",
    inputJson: '{"page":1}',
    logs: [],
    metadataJson: expect.any(String),
  });
});

test("a running call has its logs, and in its metadata who runs it, its deadline and its progress", () => {
  expect(toToolCallState(running)).toMatchObject({ status: "running", logs: ["one", "two"], startedAt: 1_000 });
  expect(metadataOf(running)).toEqual({
    messageId: "answer",
    toolUseId: "toolu_1",
    revision: 4,
    execution: "client",
    participant: "ann",
    addressee: "bob",
    timeoutMs: 30_000,
    deadlineAt: 31_000,
    progress: 0.5,
  });
});

test("a text is the output unchanged, a map as JSON", () => {
  const ended = (result: object) => callOf({ state: "success", outcome: success({ ...result }), finishedAt: 2_000 });

  expect(toToolCallState(ended({ value: "21 °C" }))).toMatchObject({ output: "21 °C", finishedAt: 2_000 });
  expect(toToolCallState(ended({ celsius: 21 }))?.output).toBe('{"celsius":21}');
  expect(toToolCallState(ended({}))?.error).toBeUndefined();
});

test("a failure has its message as the error, its code in the metadata, and any partial result as output", () => {
  const outcome = { state: "error", errorCode: "jammed", errorMessage: "Paper", result: { pages: 1 } } as const;
  const call = callOf({ state: "error", outcome });

  expect(toToolCallState(call)).toMatchObject({ status: "error", error: "Paper", output: '{"pages":1}' });
  expect(metadataOf(call)).toMatchObject({ errorCode: "jammed" });
});

test("a cancelled call contains the reason", () => {
  const call = callOf({ state: "cancelled", outcome: failure("cancelled", "Stopped") });

  expect(toToolCallState(call)).toMatchObject({ status: "cancelled", error: "Stopped" });
});

test("the detail name leaves ids, name, status and times; off leaves nothing", () => {
  const outcome = failure("jammed", "Paper");
  const secret = callOf({ ...running, state: "error", outcome, finishedAt: 2_000, detail: "name" });

  expect(toToolCallState(secret)).toEqual({
    id: "call",
    name: "scan",
    status: "error",
    callId: "call",
    logs: [],
    metadataJson: '{"messageId":"answer","toolUseId":"toolu_1","revision":4}',
    startedAt: 1_000,
    finishedAt: 2_000,
  });
  expect(toToolCallState(callOf({ detail: "off" }))).toBeUndefined();
});

test("however large a call is, its state fits into one envelope, and its input stays JSON", () => {
  const huge = "é".repeat(2_000_000);
  const outcome = { state: "error", errorCode: "x", errorMessage: huge, result: { value: huge } } as const;
  const body = toToolCallState(callOf({ input: { huge }, state: "error", outcome }));
  if (!body) throw new TypeError("The call is shown");

  const bytes = encodeEnvelope({ stanzaId: -1, conversationId: "c", message: { type: "tool_call_state", body } });

  expect(bytes.length).toBeLessThan(1024 * 1024);
  expect(body.output).toMatch(/\[truncated: 4000000 bytes, the first 262144 are shown\]$/);
  expect(JSON.parse(body.inputJson ?? "")).toMatchObject({ truncated: expect.stringContaining("[truncated: ") });
  expect(JSON.parse(body.metadataJson)).toMatchObject({ isCut: true });
});

test("a call's row shows the call as it was when an event reported it, even if it has changed since", () => {
  const reported = JSON.parse(JSON.stringify(toLiveCall(running, (text) => text))) as ReturnType<typeof toLiveCall>;
  const ended: Call = {
    ...running,
    state: "success",
    outcome: success({ pages: 2 }),
    finishedAt: 2_000,
    revision: 9,
    logs: ["one", "two", "three"],
    progress: 1,
  };

  expect(callAsReported(ended, reported)).toEqual(running);
});
