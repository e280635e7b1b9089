import { listOf, type Message } from "./message.ts";
import type { Json } from "./step.ts";
import { validateTool } from "./validate-tool.ts";

/**
 * Checks messages with the role `system`, which add or remove tools. They require the beta `inline-tools-2026-09-15`.
 */
export function* validateSystemMessages(body: Json, messages: readonly Message[], betas: string): Generator<string> {
  const known = new Set(listOf(body["tools"]).map(({ name }) => name));
  for (const [at, { role, content }] of messages.entries()) {
    if (role !== "system") continue;
    const [before, after] = [messages[at - 1]?.role, messages[at + 1]?.role];
    if (before !== "user") yield `messages.${at}: a system message must immediately follow a user turn`;
    if (after !== undefined && after !== "assistant")
      yield `messages.${at}: a system message must be last or be followed by an assistant turn`;
    if (content.length === 0) yield `messages.${at}: all messages must have non-empty content`;
    for (const [index, block] of content.entries()) {
      const path = `messages.${at}.content.${index}`;
      const tool = (block["tool"] ?? {}) as Json;
      if (!betas.split(",").includes("inline-tools-2026-09-15"))
        yield `${path}: Input tag '${String(block["type"])}' found using 'type' does not match any of the expected tags`;
      yield* validateToldTool(block, path, known);
      if (tool["type"] === "tool_definition") known.add((tool["definition"] as Json)["name"]);
    }
  }
}

function* validateToldTool(block: Json, path: string, known: ReadonlySet<unknown>): Generator<string> {
  const type = String(block["type"]);
  const tool = (block["tool"] ?? {}) as Json;
  if (type !== "tool_addition" && type !== "tool_removal")
    yield `${path}: Input tag '${type}' found using 'type' does not match any of the expected tags`;
  for (const key of Object.keys(block))
    if (!["type", "tool", "cache_control"].includes(key))
      yield `${path}.${type}.${key}: Extra inputs are not permitted`;
  if (tool["type"] === "tool_reference") {
    if (!known.has(tool["name"]))
      yield `${path}: Tool reference '${String(tool["name"])}' not found in available tools`;
  } else if (tool["type"] === "tool_definition" && type === "tool_addition")
    yield* validateTool(tool["definition"] as Json, `${path}.tool_addition.tool.tool_definition.definition`);
  else yield `${path}.${type}.tool: Input tag '${String(tool["type"])}' does not match any of the expected tags`;
}
