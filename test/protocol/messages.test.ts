import { expect, test } from "vitest";
import { isKept, type Message } from "../../src/protocol/messages/messages.ts";

const transcription = (final: boolean): Message => ({ type: "transcription", body: { id: "t", text: "Hi", final } });
const state = (status: "running" | "success"): Message => ({
  type: "tool_call_state",
  body: { id: "c", name: "scan", status, inputJson: "{}", logs: [], metadataJson: "{}" },
});

test("final messages are kept for clients that reconnect, and the ones before them are not", () => {
  expect([transcription(true), transcription(false)].map(isKept)).toEqual([true, false]);
  expect([state("success"), state("running")].map(isKept)).toEqual([true, false]);
  expect(isKept({ type: "block_event", body: { event: "turn_complete", turnId: "msg" } })).toBe(false);
});
