import type { ToolCall } from "@parley/react";
import { expect, test } from "vitest";
import { toExactJson, toVisible } from "../../../web/src/shared/exact-json.ts";
import { en } from "../../../web/src/shared/words/en.ts";
import { toExtra, toRefusal, toRunner, toState } from "../../../web/src/tools/describe-call.ts";
import { toToolCall } from "../../../web/src/tools/stored-call.ts";

const call: ToolCall = {
  toolUseId: "t1",
  messageId: "a1",
  name: "scan",
  status: "running",
  inputJson: "{}",
  logs: [],
  revision: 1,
};

test.each<[Partial<ToolCall>, string]>([
  [{ runner: "server" }, "on the server"],
  [{ runner: "server", mcpServer: "shop" }, "by MCP server shop"],
  [{ runner: "anthropic" }, "by Anthropic"],
  [{ runner: "client", addressee: "ann" }, "on this device"],
  [{ runner: "client", addressee: "ben" }, "on ben's device"],
  [{ runner: "either" }, "here or on the server"],
  [{}, ""],
])("a call with %j is described as running %j", (more, words) => {
  expect(toRunner({ ...call, ...more }, "ann", en.calls)).toBe(words);
});

test("a call from the record is described as running where it ran", () => {
  const stored = { type: "tool", name: "scan", state: "success", ranOn: "server", mcpServer: "shop" } as const;

  expect(toRunner(toToolCall(stored, "a1"), "ann", en.calls)).toBe("by MCP server shop");
});

test.each<[Partial<ToolCall>, string]>([
  [{ status: "pending", approver: "ben" }, "Waiting for ben's permission"],
  [{ status: "pending", approver: "ann" }, "Waiting for your permission"],
  [{ waitsForPermission: true }, "Waiting for an answer"],
  [{}, "Running"],
])("a call with %j is described as %j", (more, words) => {
  expect(toState({ ...call, ...more }, "ann", en.calls)).toBe(words);
});

test.each([
  ["late", "server", "The server answered too late. The answer was ignored."],
  ["duplicate", "ann", "This device answered again. The first answer counts."],
  ["wrong_participant", "ben", "ben answered without being asked. The answer was ignored."],
] as const)("an answer that was %s from %s is described in words", (kind, from, words) => {
  expect(toExtra({ kind, from, success: true }, "ann", en.calls)).toBe(words);
});

test("hidden characters in arguments are escaped, the value stays the same, and ordinary words stay unchanged", () => {
  const input = { path: "list\u202etxt.exe", text: "zero\u200bwidth \u{e0041}", name: "👩‍🍳 נעמי می‌خواهم" };

  const json = toExactJson(input);

  expect(json).toContain('"list\\u202etxt.exe"');
  expect(json).toContain('"zero\\u200bwidth \\udb40\\udc41"');
  expect(json).toContain(input.name);
  expect(JSON.parse(json)).toEqual(input);
  expect(toVisible("a\u2066b")).toBe("a\\u2066b");
});

const STAYS = "Anything the tool did before that is not undone.";

test.each([
  ["Not run: the participant rejected it", "Denied, not run", undefined],
  ["Not run: the participant rejected it. What the participant said: Too much", "Denied, not run", "“Too much”"],
  ["Not run: a rule denies it", "Not run", "a rule denies it"],
  ["Not allowed: the participant rejected it", "Denied while it ran", STAYS],
  ["Not allowed: the participant rejected it. What the participant said: No", "Denied while it ran", `“No” ${STAYS}`],
  ["Not allowed: nobody answered in time", "Not allowed while it ran", `nobody answered in time. ${STAYS}`],
])("a denied call is shown as not run only if it had not started (%s)", (error, state, note) => {
  const call = { errorCode: "permission_denied", error } as ToolCall;

  expect(toRefusal(call, en)).toEqual({ state, note });
});
