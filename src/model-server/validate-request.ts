import type { IssuedContent } from "./issued-content.ts";
import type { Json } from "./step.ts";
import { listOf } from "./message.ts";
import { validateMessages } from "./validate-messages.ts";
import { validateTool } from "./validate-tool.ts";

const words = (list: string) => new Set(list.split(" "));
const PARAMS = words(
  "model max_tokens messages system tools tool_choice thinking output_config stream stop_sequences metadata container cache_control service_tier speed inference_geo context_management",
);
const EFFORTS: readonly unknown[] = ["low", "medium", "high", "xhigh", "max"];
const SERVER_TOOL = /^(web_search|web_fetch|code_execution|tool_search_tool_(regex|bm25))_\d{8}$/;

/**
 * Returns why the API would reject a request with 400 invalid_request_error, in the API's words, or `undefined` if the
 * request is valid.
 *
 * @param betas the `anthropic-beta` header
 */
export function validateRequest(body: Json, issued: IssuedContent, betas = ""): string | undefined {
  for (const problem of [
    ...validateParams(body),
    ...validateTools(body),
    ...validateThinking(body),
    ...validateCache(body),
    ...validateEdits(body, betas),
  ]) {
    return problem;
  }
  for (const problem of validateMessages(body, issued, betas)) return problem;
  return undefined;
}

function* validateParams(body: Json): Generator<string> {
  for (const key of Object.keys(body)) if (!PARAMS.has(key)) yield `${key}: Extra inputs are not permitted`;
  if (typeof body["model"] !== "string" || body["model"] === "") yield "model: Field required";
  if (!Number.isInteger(body["max_tokens"])) yield "max_tokens: Field required";
  else if (Number(body["max_tokens"]) < 1) yield "max_tokens: Input should be greater than or equal to 1";
  if (body["stream"] !== true) yield "stream: this server answers streaming requests only";
  if (body["system"] === "") yield "system: text content blocks must be non-empty";
  for (const block of listOf(body["system"]))
    if (block["text"] === "") yield "system: text content blocks must be non-empty";
  const effort = (body["output_config"] as Json | undefined)?.["effort"] ?? undefined;
  if (effort !== undefined && !EFFORTS.includes(effort))
    yield "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'";
}

/** The beta that each type of edit requires. */
const EDITS: Readonly<Record<string, string>> = {
  clear_tool_uses_20250919: "context-management-2025-06-27",
  compact_20260112: "compact-2026-01-12",
};

function* validateEdits({ context_management: editing }: Json, betas: string): Generator<string> {
  if (editing === undefined) return;
  const named = betas.split(",");
  if (!Object.values(EDITS).some((beta) => named.includes(beta)))
    yield "context_management: Extra inputs are not permitted";
  for (const [index, { type, trigger }] of listOf((editing as Json)["edits"]).entries()) {
    const beta = EDITS[String(type)];
    if (beta === undefined || !named.includes(beta))
      yield `context_management.edits.${index}: Input tag '${String(type)}' found using 'type' does not match any of the expected tags`;
    if (type === "compact_20260112" && Number((trigger as Json | undefined)?.["value"] ?? MIN_TRIGGER) < MIN_TRIGGER)
      yield `context_management.edits.${index}.${type}.trigger: Input should be greater than or equal to ${MIN_TRIGGER}`;
  }
}

const MIN_TRIGGER = 50_000;

function* validateTools(body: Json): Generator<string> {
  const tools = listOf(body["tools"]);
  for (const [index, tool] of tools.entries()) {
    if (typeof tool["type"] === "string" && tool["type"] !== "custom") {
      if (!SERVER_TOOL.test(tool["type"]))
        yield `tools.${index}: Input tag '${tool["type"]}' found using 'type' does not match any of the expected tags`;
      continue;
    }
    yield* validateTool(tool, `tools.${index}`);
  }
  if (new Set(tools.map((tool) => tool["name"])).size < tools.length) yield "tools: Tool names must be unique.";
  if (tools.length > 0 && tools.every((tool) => tool["defer_loading"] === true))
    yield "tools: At least one tool must not be deferred";
  const choice = body["tool_choice"] as Json | undefined;
  if (choice && tools.length === 0) yield "tool_choice may only be specified while providing `tools`.";
  if (choice && !["auto", "any", "tool", "none"].includes(String(choice["type"])))
    yield "tool_choice: Input tag found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'";
  if (choice?.["type"] === "tool" && !tools.some((tool) => tool["name"] === choice["name"]))
    yield `Tool '${String(choice["name"])}' not found in provided tools`;
}

function* validateThinking(body: Json): Generator<string> {
  const thinking = body["thinking"] as Json | undefined;
  if (!thinking) return;
  const type = String(thinking["type"]);
  const choice = (body["tool_choice"] as Json | undefined)?.["type"];
  if (!["adaptive", "enabled", "between_tools", "disabled"].includes(type))
    yield `thinking: Input tag '${type}' found using 'type' does not match any of the expected tags`;
  if (type !== "disabled" && (choice === "any" || choice === "tool"))
    yield "Thinking may not be enabled when tool_choice forces tool use.";
  if (type !== "enabled") {
    if ("budget_tokens" in thinking) yield `thinking.${type}.budget_tokens: Extra inputs are not permitted`;
    return;
  }
  const budget = Number(thinking["budget_tokens"]);
  if (!(budget >= 1024)) yield "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024";
  if (budget >= Number(body["max_tokens"])) yield "`max_tokens` must be greater than `thinking.budget_tokens`.";
}

function* validateCache(body: Json): Generator<string> {
  const marked = [
    ...listOf(body["tools"]),
    ...listOf(body["system"]),
    ...listOf(body["messages"]).flatMap(({ content }) => listOf(content)),
  ].filter((item) => item["cache_control"] !== undefined && item["cache_control"] !== null);
  const count = marked.length + (body["cache_control"] ? 1 : 0);
  if (count > 4) yield `A maximum of 4 blocks with cache_control may be provided. Found ${count}.`;
  for (const item of marked) {
    const { type } = item["cache_control"] as Json;
    if (type !== "ephemeral")
      yield "cache_control: Input tag found using 'type' does not match any of the expected tags: 'ephemeral'";
    if (item["type"] === "text" && String(item["text"]).trim() === "")
      yield "cache_control cannot be set for empty text blocks";
    if (item["defer_loading"] === true) yield "tools: cache_control cannot be set for a tool with defer_loading";
  }
}
