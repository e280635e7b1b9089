import { toolUseId } from "../../conversation/block.ts";
import type { HistoryBlock } from "../../conversation/history.ts";
import { asText, isRecord, type JsonObject, type JsonValue } from "../../lib/json.ts";
import type { ToolDetails } from "./message-part.ts";

/** The call or the response of a tool use. The server or clients run function tools, Anthropic runs server tools. */
export type ToolCallOrResult = FunctionCall | FunctionResponse | ServerCall | ServerResponse;

export interface FunctionCall {
  readonly kind: "function_call";
  readonly id: string | undefined;
  readonly name: string;
  readonly arguments: JsonValue;
}

export interface FunctionResponse {
  readonly kind: "function_response";
  readonly id: string | undefined;
  readonly response: JsonValue;
  readonly isError: boolean;
}

export interface ServerCall {
  readonly kind: "server_call";
  readonly id: string | undefined;
  readonly name: string;
  readonly details: ToolDetails;
}

export interface ServerResponse {
  readonly kind: "server_response";
  readonly id: string | undefined;
  readonly details: ToolDetails;
  readonly isError: boolean;
}

const RESULT = "_tool_result";
const USE = "_tool_use";

/** Returns a block's call or response, or `undefined` for a block that does not belong to a tool. */
export function toToolHalf(block: HistoryBlock): ToolCallOrResult | undefined {
  const { blockType } = block;
  const content = block.content ?? {};
  const id = toolUseId(block);
  if (blockType === "tool_use") {
    return { kind: "function_call", id, name: nameOf(content), arguments: content["input"] ?? {} };
  }
  if (blockType === "tool_result") {
    return { kind: "function_response", id, response: content["content"] ?? "", isError: content["is_error"] === true };
  }
  // Results of all server tools are stored as `server_tool_result`. The API's own type, in the content, identifies the
  // tool.
  const type = blockType === "server_tool_result" ? asText(content["type"]) : blockType;
  if (type.endsWith(RESULT)) return toServerResponse(id, type.slice(0, -RESULT.length), content);
  if (blockType === "server_tool_use") return toServerCall(id, nameOf(content), content);
  return blockType.endsWith(USE) ? toServerCall(id, blockType.slice(0, -USE.length), content) : undefined;
}

function toServerCall(id: string | undefined, type: string, content: JsonObject): ServerCall {
  const { type: _, id: _id, tool_use_id: _useId, name: _name, tool_name: _toolName, ...fields } = content;
  const { caller: _caller, input = {}, ...rest } = fields;
  const asked = type === "code_interpreter" && isCode(input) ? input : { input };
  return { kind: "server_call", id, name: nameOf(content), details: { type, ...rest, ...asked } };
}

function toServerResponse(id: string | undefined, type: string, fields: JsonObject): ServerResponse {
  const { type: _, tool_use_id: _useId, caller: _caller, is_error: saysError, content = null, ...rest } = fields;
  const answered = type === "code_interpreter" && isOutputs(content) ? content : { content };
  const error = saysError === true ? { is_error: true } : {};
  const isError = saysError === true || (isRecord(content) && asText(content["type"]).endsWith("_error"));
  return { kind: "server_response", id, details: { type, ...rest, ...answered, ...error }, isError };
}

/**
 * Whether the input has the fixed fields of the code interpreter (docs/telemetry-representation.md). Any other input or
 * content stays unchanged.
 */
function isCode(input: JsonValue): input is JsonObject {
  if (!isRecord(input) || "type" in input) return false;
  return typeof input["code"] === "string" && typeof (input["container_id"] ?? "") === "string";
}

function isOutputs(content: JsonValue): content is JsonObject {
  if (!isRecord(content) || "type" in content) return false;
  return Array.isArray(content["outputs"]) && content["outputs"].every(isRecord);
}

function nameOf(content: JsonObject): string {
  return asText(content["tool_name"] ?? content["name"]);
}
