import { expect, test } from "vitest";
import { type Arrival, readFrame } from "../../src/conformance/wire/frame.ts";
import { pack } from "../../src/conformance/wire/pack.ts";

const body = { conversationId: "ac_1", id: "m1", content: "Hello" };
const envelope = { stanzaId: 1, conversationId: "ac_1", type: 2, meta: {}, body };

function rulesBrokenBy(value: unknown, { side = "client" as "client" | "worker", isFirst = false } = {}): string[] {
  const arrival: Arrival = { bytes: pack(value), way: "packet", topic: "", isReliable: true, from: undefined, at: 0 };
  return readFrame(arrival, { side, conversationId: "ac_1", isFirst }).faults.map(({ rule }) => rule);
}

test("a message written according to the rules has no fault", () => {
  expect(rulesBrokenBy(envelope)).toEqual([]);
});

test.each([
  ["schema", { ...envelope, body: { ...body, content: 7 } }],
  ["schema", { ...envelope, type: 42 }],
  ["keys", { type: 2, stanzaId: 1, conversationId: "ac_1", meta: {}, body }],
  ["nil", { ...envelope, body: { ...body, previousId: null } }],
  ["wide_integer", { ...envelope, meta: { timestamp: 1_795_260_000_123n } }],
  ["conversation", { ...envelope, conversationId: "ac_2", body: { ...body, conversationId: "ac_2" } }],
  ["body_conversation", { ...envelope, body: { id: "m1", content: "Hello" } }],
])("a violation of the rule %s is found, and no other", (rule, value) => {
  expect(rulesBrokenBy(value)).toEqual([rule]);
});

test("bytes that are not a MessagePack map violate the schema", () => {
  expect(rulesBrokenBy(["a", "list"])).toEqual(["schema"]);
});

test("a message meant for the other side violates the schema", () => {
  expect(rulesBrokenBy(envelope, { side: "worker" })).toEqual(["schema"]);
});

test("a first message may leave the conversation id empty", () => {
  const first = { ...envelope, conversationId: "", body: { ...body, conversationId: "" } };

  expect(rulesBrokenBy(first, { isFirst: true })).toEqual([]);
  expect(rulesBrokenBy(first)).toEqual(["conversation"]);
});
