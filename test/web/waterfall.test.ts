import { expect, test } from "vitest";
import { toWaterfalls } from "../../web/src/panels/waterfall.ts";

const at = (ms: number, type: string, body: object) => ({ at: 1_000 + ms, type, json: JSON.stringify(body) });
const stateOf = (status: string, more: object = {}) => ({
  id: "call",
  name: "scan",
  status,
  metadataJson: JSON.stringify({ messageId: "answer", ...more }),
});

test("a typed turn has the model, each call with its wait, and the sentences", () => {
  const turns = toWaterfalls([
    at(0, "start_answer", { id: "answer", previousId: "question" }),
    at(40, "block_event", { event: "block_delta", turnId: "answer" }),
    at(50, "tool_call_state", stateOf("pending")),
    at(90, "tool_call_state", stateOf("running")),
    at(290, "tool_call_state", stateOf("success")),
    at(300, "assistant_sentence", { previousId: "answer", text: "Done." }),
    at(310, "block_event", { event: "turn_complete", turnId: "answer" }),
  ]);

  expect(turns).toEqual([
    {
      id: "answer",
      totalMs: 310,
      firstWordMs: 40,
      bars: [
        { name: "Model, to its first word", kind: "model", fromMs: 0, toMs: 40 },
        { name: "scan: waits", kind: "wait", fromMs: 50, toMs: 90 },
        { name: "scan: runs", kind: "tool", fromMs: 90, toMs: 290 },
        { name: "Sentences", kind: "speech", fromMs: 300, toMs: 300 },
      ],
    },
  ]);
});

test("the wait for a permission, and an answer that comes after the call's end, have bars of their own", () => {
  const question = { id: "question", messageId: "answer", callId: "call" };
  const late = { kind: "late", from: "server", success: true };
  const [turn] = toWaterfalls([
    at(0, "start_answer", { id: "answer", previousId: "message" }),
    at(10, "tool_call_state", stateOf("pending")),
    at(20, "permission_request", question),
    at(60, "permission_request", question),
    at(120, "permission_response", { permissionId: "question" }),
    at(150, "tool_call_state", stateOf("running")),
    at(250, "tool_call_state", stateOf("error")),
    at(300, "block_event", { event: "turn_complete", turnId: "answer" }),
    at(900, "tool_call_state", stateOf("error", { extraAnswers: [late] })),
  ]);

  expect(turn?.totalMs).toBe(300);
  expect(turn?.bars.map(({ name, fromMs, toMs }) => [name, fromMs, toMs])).toEqual([
    ["scan: waits for permission", 20, 120],
    ["scan: waits", 120, 150],
    ["scan: runs", 150, 250],
    ["scan: late answer", 250, 900],
  ]);
});

test("that a device has stopped what was cancelled is no late answer", () => {
  const stopped = { kind: "late", from: "ann", success: false };
  const [turn] = toWaterfalls([
    at(0, "start_answer", { id: "answer", previousId: "message" }),
    at(10, "tool_call_state", stateOf("running")),
    at(20, "tool_call_state", stateOf("cancelled")),
    at(30, "tool_call_state", stateOf("cancelled", { extraAnswers: [stopped] })),
  ]);

  expect(turn?.bars.map(({ name }) => name)).toEqual(["scan: runs"]);
});

test("a spoken turn begins with the first words that were heard, and has the way to the first sound", () => {
  const [turn] = toWaterfalls([
    at(0, "transcription", { id: "question", text: "What", final: false }),
    at(600, "transcription", { id: "question", text: "What is it?", final: true }),
    at(650, "start_answer", { id: "answer", previousId: "question", answerType: "text+voice" }),
    at(950, "block_event", { event: "block_delta", turnId: "answer" }),
    at(1_200, "assistant_sentence", { previousId: "answer", text: "A kettle." }),
    at(2_000, "assistant_sentence", { previousId: "answer", text: "", isFinal: true }),
  ]);

  expect(turn?.totalMs).toBe(2_000);
  expect(turn?.firstWordMs).toBe(300);
  expect(turn?.bars.map(({ name, fromMs, toMs }) => [name, fromMs, toMs])).toEqual([
    ["Heard", 0, 600],
    ["To the end of the turn", 600, 650],
    ["Model, to its first word", 650, 950],
    ["To the first sound", 950, 1_200],
    ["Speaks", 1_200, 1_200],
  ]);
});
