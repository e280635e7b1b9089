import { readFileSync } from "node:fs";
import { Ajv, type AnySchemaObject } from "ajv";
import { beforeEach, expect, test } from "vitest";
import {
  toChatMessages,
  toFinishReason,
  toOutputMessage,
} from "../../../src/telemetry/representation/to-chat-messages.ts";
import { representationSchema } from "../../../src/telemetry/representation/representation.ts";
import { toToolDefinitions } from "../../../src/telemetry/representation/to-tool-definitions.ts";
import { recordedTurn } from "./recorded-turn.ts";

/**
 * The folder `docs/gen-ai/` of open-telemetry/semantic-conventions at v1.41.1, which is not part of this repository.
 * Without it, these tests are skipped, and parts are checked only against `schemas/genai/`.
 */
const folder = process.env["GENAI_SCHEMAS"];

beforeEach(({ skip }) => skip(folder === undefined, "GENAI_SCHEMAS names no folder"));

const DEF_OF_TYPE: Readonly<Record<string, string>> = {
  text: "TextPart",
  reasoning: "ReasoningPart",
  tool_call: "ToolCallRequestPart",
  tool_call_response: "ToolCallResponsePart",
  server_tool_call: "ServerToolCallPart",
  server_tool_call_response: "ServerToolCallResponsePart",
};

function judge(file: string): (value: unknown, def?: string) => unknown[] {
  const schema = JSON.parse(readFileSync(`${folder}/gen-ai-${file}.json`, "utf8")) as AnySchemaObject;
  const ajv = new Ajv({ strict: false, validateFormats: false }).addSchema(schema, "published");
  return (value, def) => {
    const validate = ajv.getSchema(def === undefined ? "published" : `published#/$defs/${def}`);
    if (validate === undefined) throw new TypeError(`${file} has no ${def}`);
    return validate(value) === true ? [] : (validate.errors ?? []);
  };
}

test.each(representationSchema.options)("input and output in %s fit the published schemas", (representation) => {
  const input = toChatMessages([{ role: "assistant", blocks: recordedTurn }], { representation });
  const output = toOutputMessage(recordedTurn, toFinishReason("end_turn"), { representation });

  expect(judge("input-messages")(input)).toEqual([]);
  expect(judge("output-messages")([output])).toEqual([]);
});

test.each(representationSchema.options)("each part in %s matches the published part of its type", (representation) => {
  const { parts } = toOutputMessage(recordedTurn, toFinishReason("end_turn"), { representation });
  const judgePart = judge("output-messages");

  expect(parts.flatMap((part) => judgePart(part, DEF_OF_TYPE[part.type] ?? "GenericPart"))).toEqual([]);
});

test("tool definitions fit the published schema", () => {
  const tools = [{ name: "add", description: "Adds.", inputSchema: { type: "object" } }];
  const definitions = toToolDefinitions({ tools, serverTools: [{ type: "x_1", name: "x" }] }, { isDetailed: true });
  const judgeTool = judge("tool-definitions");
  const defOf = (type: string) => (type === "function" ? "FunctionToolDefinition" : "GenericToolDefinition");

  expect(definitions.flatMap((each) => judgeTool(each, defOf(each.type)))).toEqual([]);
});
