import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { HistoryBlock } from "../../../src/conversation/history.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { toStoredBlock } from "../../../src/llm/to-stored-block.ts";
import { toMessageParts } from "../../../src/telemetry/representation/to-message-parts.ts";

/** The examples in spec/002, word for word. */
const examples = JSON.parse(readFileSync("test/fixtures/genai/spec-002-examples.json", "utf8")) as Record<
  "toolCallRequestPart" | "toolCallResponsePart" | "serverToolCall" | "serverToolCallResponse" | "serverTool",
  JsonObject
> & { readonly serverToolExecution: JsonObject };

function storedExecution(id: string, asked: { code: string; container_id: string }, logs: string): HistoryBlock[] {
  return [
    toStoredBlock({ type: "server_tool_use", id, name: "code_interpreter", input: asked }),
    toStoredBlock({
      type: "code_interpreter_tool_result",
      tool_use_id: id,
      content: { outputs: [{ type: "logs", logs }] },
    }),
  ];
}

const random = {
  code: "import random\n\n# Generate a random number\nrandom_number = random.randint(1, 100)\n\n# Execute some operation with the random number (e.g., squaring it)\nresult = random_number ** 2\n\nrandom_number, result",
  container_id: "cntr_690bdbfed8688190884efd4c7ae6435b0db1f006442e8941",
};

test("Option 1 matches the example in spec/002", () => {
  const blocks = storedExecution("call_VSPygqKTWdrhaFErNvMV18Yl", random, "(89, 7921)");

  expect(toMessageParts(blocks, { representation: "tool_call" })).toEqual([
    examples.toolCallRequestPart,
    examples.toolCallResponsePart,
  ]);
});

test("Option 2 matches the example in spec/002", () => {
  const blocks = storedExecution("call_123", { code: "print(10 + 20)", container_id: "container_xyz" }, "(10, 20)");

  expect(toMessageParts(blocks, { representation: "server_tool_call" })).toEqual([
    examples.serverToolCall,
    examples.serverToolCallResponse,
  ]);
});

test("Option 3 matches the example in spec/002", () => {
  const blocks = storedExecution("call_123", random, "(89, 7921)");

  expect(toMessageParts(blocks, { representation: "server_tool" })).toEqual([examples.serverTool]);
});

test("Option 3's alternative structure matches the example in spec/002", () => {
  const asked = { code: "print('Hello, World!')", container_id: "container_xyz" };
  const blocks = storedExecution("call_123", asked, "Hello, World!");
  const timings = new Map([["call_123", { startedAt: Date.UTC(2026, 0, 12, 10, 30, 45), durationMs: 250 }]]);

  expect(toMessageParts(blocks, { representation: "server_tool_execution", timings })).toEqual([
    examples.serverToolExecution,
  ]);
});
