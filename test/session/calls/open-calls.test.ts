import { expect, test } from "vitest";
import type { Call } from "../../../src/conversation/call.ts";
import { protectsTurn } from "../../../src/session/calls/open-calls.ts";

const TURN = { turnId: "t1" };
const TOOLS = new Map([
  ["terms", { interruptible: false }],
  ["look", {}],
]);
const call = (more: Partial<Call>) => ({ toolName: "terms", turnId: "t1", startedAt: 1, ...more }) as Call;

test.each([
  ["has started", call({}), true],
  ["waits for a permission", call({ startedAt: undefined }), false],
  ["belongs to an earlier turn", call({ turnId: "t0" }), false],
  ["is of another tool", call({ toolName: "look" }), false],
  ["is of a tool that only a client has", call({ toolName: "door" }), false],
])("a call that %s may make the turn uninterruptible", (_how, current, is) => {
  expect(protectsTurn(current, TURN, TOOLS)).toBe(is);
});
