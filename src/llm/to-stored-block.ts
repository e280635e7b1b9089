import { asText, type JsonObject } from "../lib/json.ts";
import type { ModelBlock } from "./model-event.ts";

/** Converts an API block to its stored form (`TurnBlock`). `to-messages.ts` does the reverse. */
export function toStoredBlock(raw: JsonObject): ModelBlock {
  const type = asText(raw["type"]);
  switch (type) {
    case "text": {
      const citations = raw["citations"];
      const hasCitations = Array.isArray(citations) && citations.length > 0;
      return { blockType: type, textContent: asText(raw["text"]), content: hasCitations ? { citations } : null };
    }
    case "thinking":
      return {
        blockType: type,
        textContent: asText(raw["thinking"]),
        content: { signature: asText(raw["signature"]) },
      };
    case "redacted_thinking":
      return { blockType: type, textContent: null, content: { data: raw["data"] ?? "" } };
    case "tool_use":
    case "server_tool_use": {
      const { type: _, id, name, input, ...rest } = raw;
      const content = { tool_use_id: id ?? "", tool_name: name ?? "", input: input ?? {}, ...rest };
      return { blockType: type, textContent: null, content };
    }
    default:
      return { blockType: isServerResult(raw) ? "server_tool_result" : type, textContent: null, content: raw };
  }
}

/**
 * Whether the block is a server tool's result, such as web_search_tool_result. MCP results keep their own type, because
 * they contain `is_error`.
 */
function isServerResult(raw: JsonObject): boolean {
  const type = asText(raw["type"]);
  return type.endsWith("_tool_result") && type !== "mcp_tool_result" && typeof raw["tool_use_id"] === "string";
}

/** Returns the stored type of a block that has just started. */
export function storedTypeOf(raw: JsonObject): ModelBlock["blockType"] {
  return isServerResult(raw) ? "server_tool_result" : asText(raw["type"]);
}
