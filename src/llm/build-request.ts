import type { Anthropic } from "@anthropic-ai/sdk";
import type { HistoryMessage } from "../conversation/history.ts";
import { incrementalFlatMap } from "../lib/incremental-flat-map.ts";
import { asText, type JsonObject } from "../lib/json.ts";
import { toMessages, type MediaData } from "./to-messages.ts";

/** The request that `Model.stream` sends. */
export type ModelRequest = Omit<Anthropic.MessageCreateParamsStreaming, "stream"> & {
  readonly context_management?: { readonly edits: readonly JsonObject[] };
};

/** A tool as the model sees it. */
interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema whose root is an object. */
  readonly inputSchema: JsonObject;
  /**
   * Whether the tool may be removed during the session. Temporary tools are placed after the permanent ones, so that
   * the permanent ones stay cached. @defaultValue false
   */
  readonly isTemporary?: boolean;
}

/** `adaptive` lets the model decide how much to think; `enabled` sets a budget of at least 1024 tokens. */
type Thinking =
  | { readonly type: "adaptive"; readonly display?: "summarized" | "omitted" }
  | { readonly type: "enabled"; readonly budgetTokens: number; readonly display?: "summarized" | "omitted" }
  | { readonly type: "disabled" };

type Effort = "low" | "medium" | "high" | "xhigh" | "max";

type ToolChoice = { readonly type: "auto" | "any" | "none" } | { readonly type: "tool"; readonly name: string };

export interface RequestInput {
  readonly model: string;
  readonly maxTokens: number;
  readonly system?: string;
  readonly tools?: readonly ToolSpec[];
  /** Anthropic's own tools in the API's form, such as `{type: "web_search_20260318", name: "web_search"}`. */
  readonly serverTools?: readonly JsonObject[];
  readonly messages: readonly HistoryMessage[];
  /** The media that the messages refer to. @defaultValue none */
  readonly media?: MediaData;
  readonly thinking?: Thinking;
  readonly effort?: Effort;
  readonly toolChoice?: ToolChoice;
  /** The container id from this turn's last `message_stop`. */
  readonly containerId?: string;
  /** Anthropic's context editing in the API's form. @defaultValue none */
  readonly edits?: readonly JsonObject[];
}

/**
 * Builds a request that shares the longest possible prefix with the previous one, for the prompt cache. Tools are
 * sorted. There are four cache breakpoints, the API's limit: one on the last permanent tool, one on the system prompt,
 * and two in the history.
 */
export function buildRequest(input: RequestInput): ModelRequest {
  const { maxTokens, effort, containerId, system = "", edits = [] } = input;
  const messages = toMessages(input.messages, input.media);
  const toolsWhere = (temporary: boolean) =>
    (input.tools ?? []).filter(({ isTemporary = false }) => isTemporary === temporary);
  const permanentTools = [...sorted(input.serverTools ?? []), ...sorted(toolsWhere(false).map(toApiTool))];
  const tools = [...permanentTools, ...sorted(toolsWhere(true).map(toApiTool))];
  const standIns = tools.length === 0 ? toStandIns(messages) : [];
  const toolChoice =
    standIns.length > 0 ? ({ type: "none" } as const) : tools.length > 0 ? input.toolChoice : undefined;
  const thinking = toThinking(input.thinking, maxTokens, toolChoice);
  const sent = tools.length > 0 ? tools : standIns;
  const lastPermanent = permanentTools.findLast(isCacheableTool);
  const isMarked = (tool: JsonObject) => (lastPermanent ? tool === lastPermanent : isCacheableTool(tool));
  return {
    model: input.model,
    max_tokens: maxTokens,
    ...(sent.length > 0 && { tools: withBreakpoint(sent, isMarked) as unknown as Anthropic.ToolUnion[] }),
    ...(system.trim() !== "" && { system: withBreakpoint([{ type: "text" as const, text: system }], () => true) }),
    messages: withHistoryBreakpoints(messages),
    ...(toolChoice && { tool_choice: toolChoice }),
    ...(thinking && { thinking }),
    ...(effort && { output_config: { effort } }),
    ...(containerId !== undefined && { container: containerId }),
    ...(edits.length > 0 && { context_management: { edits } }),
  };
}

function toApiTool({ name, description, inputSchema }: ToolSpec): JsonObject {
  return { name, description, input_schema: inputSchema };
}

/** Sorts by code unit, so that the order does not depend on a locale. */
function sorted(tools: readonly JsonObject[]): JsonObject[] {
  const nameOf = (tool: JsonObject) => asText(tool["name"]);
  return tools.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0));
}

function isCacheableTool(tool: JsonObject): boolean {
  return tool["defer_loading"] !== true;
}

/**
 * Returns declarations of the tools used in the history, for a request that has no tools of its own. The API rejects
 * tool blocks in the history if no tools are declared. `tool_choice: none` keeps the model from calling them.
 */
function toStandIns(messages: readonly Anthropic.MessageParam[]): JsonObject[] {
  const names = new Set(usedTools(messages));
  const inputSchema = { type: "object" };
  return [...names].toSorted().map((name) => toApiTool({ name, description: "No longer available.", inputSchema }));
}

const usedTools = incrementalFlatMap(({ content }: Anthropic.MessageParam) =>
  typeof content === "string" ? [] : content.flatMap((block) => (block.type === "tool_use" ? block.name : [])),
);

/**
 * Adjusts the thinking setting to the API's rules: a budget must leave room for the answer, and a forced tool call
 * allows no thinking.
 */
function toThinking(
  thinking: Thinking | undefined,
  maxTokens: number,
  toolChoice: ToolChoice | undefined,
): Anthropic.ThinkingConfigParam | undefined {
  if (thinking === undefined || thinking.type === "disabled") return thinking;
  if (toolChoice?.type === "any" || toolChoice?.type === "tool") return undefined;
  if (thinking.type === "adaptive") return thinking;
  const { budgetTokens, ...rest } = thinking;
  const budget = budgetTokens < maxTokens ? budgetTokens : Math.floor(maxTokens / 2);
  return budget >= 1024 ? { ...rest, budget_tokens: budget } : undefined;
}

const EPHEMERAL = { type: "ephemeral" } as const;

/** Block types that accept `cache_control`. Thinking and unknown types do not. */
const CACHEABLE =
  /^(text|image|document|tool_use|tool_result|server_tool_use|tool_addition|tool_removal|.+_tool_result)$/;

/** Puts the breakpoint on the last allowed item. The API caches everything up to it. */
function withBreakpoint<Item extends object>(items: readonly Item[], isAllowed: (item: Item) => boolean): Item[] {
  const last = items.findLastIndex(isAllowed);
  return items.map((item, index) => (index === last ? { ...item, cache_control: EPHEMERAL } : item));
}

/**
 * Puts two breakpoints into the history. The one at the end makes the API cache this request for the next one. The
 * other one is where the previous request ended, before the assistant's last message, and makes the API find that
 * request's cache. It is needed because the API looks back only 20 blocks from a breakpoint, and the last step may have
 * more.
 */
function withHistoryBreakpoints(messages: readonly Anthropic.MessageParam[]): Anthropic.MessageParam[] {
  const end = messages.length - 1;
  const lastReply = messages.findLastIndex(({ role }) => role === "assistant");
  const before = messages.findLastIndex(({ role }, index) => role !== "assistant" && index < lastReply);
  const marked = [...messages];
  for (const index of [before, end]) {
    const message = messages[index];
    if (!message || typeof message.content === "string") continue;
    marked[index] = { ...message, content: withBreakpoint<object>(message.content, isCacheable) } as typeof message;
  }
  return marked;
}

function isCacheable(block: object): boolean {
  if (!("type" in block) || !CACHEABLE.test(String(block.type)) || block.type === "mcp_tool_result") return false;
  return !("text" in block) || String(block.text).trim() !== "";
}
