import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isRecord } from "../../../src/lib/json.ts";
import { problemsBy, problemsOfPart, readSchema } from "./part-problems.ts";

const readFixture = (name: string) =>
  JSON.parse(readFileSync(`test/fixtures/genai/${name}.json`, "utf8")) as Record<string, Record<string, unknown>>;
const examples = readFixture("spec-002-examples");
const printed = readFixture("spec-002-schemas");

function defsOf(file: string): Record<string, unknown> {
  const schema = readSchema(file);
  return isRecord(schema) && isRecord(schema["$defs"]) ? schema["$defs"] : {};
}

/** Removes `oneOf`, with which spec/002 leaves room for further tools. */
function withoutOneOf(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, inner: unknown) => (key === "oneOf" ? undefined : inner)));
}

test.each([
  ["request", "currentRequest"],
  ["response", "currentResponse"],
])("the current schema for a %s matches spec/002", (half, name) => {
  expect(defsOf(`tool-call-${half}-part.current.json`)).toEqual(printed[name]);
});

test.each([
  { half: "request", name: "enhancedRequest", root: "ToolCallRequestPart", suffix: "" },
  { half: "response", name: "enhancedResponse", root: "ToolCallResponsePart", suffix: "Response" },
])("the enhanced schema for a $half matches spec/002, with more tools", ({ half, name, root, suffix }) => {
  const { [root]: part, ...defs } = defsOf(`tool-call-${half}-part.enhanced.json`);
  const tools = ["Function", "CodeInterpreter", "WebSearch", "WebFetch", "Mcp", "Generic"];

  expect(withoutOneOf(part)).toEqual(withoutOneOf(printed[name]?.[root]));
  expect(Object.keys(defs)).toEqual(tools.map((tool) => `${tool}ToolCall${suffix}`));
});

test.each([
  ["toolCallRequestPart", "tool_call"],
  ["toolCallResponsePart", "tool_call"],
  ["serverToolCall", "server_tool_call"],
  ["serverToolCallResponse", "server_tool_call"],
  ["serverTool", "server_tool"],
  ["serverToolExecution", "server_tool_execution"],
] as const)("the example %s in spec/002 is valid", (name, representation) => {
  expect(problemsOfPart(examples[name], representation)).toEqual([]);
});

test.each([
  ["a call without its details", "tool-call-request-part.enhanced.json", { type: "tool_call", name: "add" }],
  [
    "details without a type",
    "server-tool-call-part.json",
    { type: "server_tool_call", name: "x", server_tool_call: {} },
  ],
  ["a response of another name", "server-tool-call-response-part.json", { type: "server_tool_call_response", id: "1" }],
  ["a joined part of nothing", "server-tool-part.json", { type: "server_tool", name: "x", status: "completed" }],
  [
    "a status that is not known",
    "server-tool-execution-part.json",
    { type: "server_tool_execution", name: "x", request: { type: "x" }, execution_metadata: { status: "maybe" } },
  ],
  [
    "a time that is none",
    "server-tool-execution-part.json",
    {
      type: "server_tool_execution",
      name: "x",
      request: { type: "x" },
      execution_metadata: { status: "completed", timestamp: "yesterday" },
    },
  ],
  ["code that is no text", "tool-details.json#/$defs/ToolCall", { type: "code_interpreter", code: 1 }],
  ["bytes without a modality", "content-part.json", { type: "blob", content: "AA==" }],
  ["another representation's part", "message-part.json#/$defs/server_tool", examples["serverToolCall"]],
])("%s is invalid", (_, schema, value) => {
  expect(problemsBy(schema, value)).not.toEqual([]);
});
