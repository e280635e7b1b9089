import type { HistoryBlock, HistoryMessage } from "../../conversation/history.ts";
import { byteLength } from "../../conversation/shown-context.ts";
import { announcedToolName } from "../../conversation/tool-changes.ts";
import type { ClientToolDefinition } from "../../conversation/turn-record.ts";
import type { JsonObject } from "../../lib/json.ts";
import { type ModelRequest, type RequestInput, buildRequest } from "../../llm/build-request.ts";
import { ModelError, type RefusedTool } from "../../llm/model-error.ts";
import type { ModelEvent } from "../../llm/model-event.ts";
import type { MediaData } from "../../llm/to-messages.ts";
import type { Model } from "../../llm/stream-message.ts";
import type { OfferedTool } from "../../tool/tool-routing.ts";
import type { StepRequest } from "../../turn/run-step.ts";
import type { RequestOverhead } from "../../turn/token-gauge.ts";

/** The tools that the model may use, and a callback for a tool that the API rejects. */
export interface Offer {
  readonly tools: readonly OfferedTool[];
  readonly onRefusedTool: (tool: OfferedTool, field: string) => void;
}

/** What the session adds to a step's request. */
interface OfSession extends Offer {
  /** The system prompt. @defaultValue the one passed to `createOpenStream` */
  readonly instructions?: string;
  /** The media that the history refers to. @defaultValue none */
  readonly media?: MediaData;
}

/** Makes one model call. */
export type OpenStream = (
  request: StepRequest & OfSession & { readonly participant: string; readonly observe?: ChatObserver },
  signal: AbortSignal,
) => AsyncIterable<ModelEvent>;

/**
 * Counts a model call's tokens through the API. Resolves to `undefined` if the API cannot. Rejects only when aborted.
 */
export type CountTokens = (request: StepRequest & OfSession, signal: AbortSignal) => Promise<number | undefined>;

export interface ModelServerAddress {
  readonly address: string;
  readonly port: number;
}

type Fixed = Pick<RequestInput, "model" | "maxTokens" | "thinking" | "effort" | "serverTools" | "edits"> & {
  readonly instructions?: string;
  /** Where the model is called, for telemetry. @defaultValue the address of the worker's own model */
  readonly server?: ModelServerAddress;
  /** Whether temporary tools are declared in the history instead of the request's tool list. @defaultValue false */
  readonly inlineTools?: boolean;
};

/** Anthropic's beta that declares tools inside the conversation. */
export const INLINE_TOOLS = "inline-tools-2026-09-15";
/** Anthropic's beta for clearing old tool results. */
const CONTEXT_EDITING = "context-management-2025-06-27";
/** Anthropic's beta for summarizing within a request. */
const COMPACTION = "compact-2026-01-12";

/** Returns the betas that these context edits need. */
export function betasOf(edits: readonly { readonly type: string }[]): string[] {
  return [...new Set(edits.map(({ type }) => (type === "compact_20260112" ? COMPACTION : CONTEXT_EDITING)))];
}

/**
 * At this number of rejections in one model call, all client tools are dropped. Before that, only the rejected tool is
 * dropped.
 */
const MAX_REFUSALS_ONE_BY_ONE = 4;
const MAX_REFUSALS = 8;

/**
 * Adds the fixed settings to each of the session's model calls. A tool with the name of one of Anthropic's server tools
 * is not offered. If the API rejects a request because of a tool, the request is sent again without that tool.
 */
export function createOpenStream(model: Model, fixed: Fixed): OpenStream {
  return ({ observe, onRefusedTool, tools, ...step }, signal) => {
    const { history } = step;
    const { serverTools = [], server } = fixed;
    const { instructions = fixed.instructions ?? "" } = step;
    const ask: Ask = (offered, refused) => {
      const input = {
        ...step,
        instructions,
        history: withoutTools(history, [...refused, ...serverTools.map((tool) => tool["name"])]),
      };
      const request = toRequest(fixed, input, offered);
      const stream = model.stream(request, signal);
      const call = { request, history, instructions, tools: offered, serverTools, ...(server && { server }) };
      return { request, stream: observe ? observe(call, stream) : stream };
    };
    return withoutRefused({ tools: visible(fixed, tools), onRefusedTool }, ask);
  };
}

/** Counts the tokens of the request that `createOpenStream` would send. */
export function createCountTokens(model: Model, fixed: Fixed): CountTokens {
  const hidden = (fixed.serverTools ?? []).map((tool) => tool["name"]);
  return ({ tools, ...step }, signal) => {
    const input = { ...step, history: withoutTools(step.history, hidden) };
    return model.countTokens(toRequest(fixed, input, visible(fixed, tools)), signal);
  };
}

function visible({ serverTools = [] }: Fixed, tools: readonly OfferedTool[]): OfferedTool[] {
  const hidden = new Set(serverTools.map((tool) => tool["name"]));
  return tools.filter(({ name }) => !hidden.has(name));
}

function toRequest(
  { instructions: usual = "", inlineTools = false, ...fixed }: Fixed,
  { history, toolChoice, containerId, instructions = usual, media }: StepRequest & Omit<OfSession, keyof Offer>,
  tools: readonly OfferedTool[],
): ModelRequest {
  return buildRequest({
    ...fixed,
    ...(fixed.thinking?.type === "enabled" && needsNoThinking(history) && { thinking: { type: "disabled" } }),
    system: instructions,
    tools: inlineTools ? tools.filter(({ isTemporary }) => !isTemporary) : tools,
    messages: fixed.edits?.some(({ type }) => type === "compact_20260112") ? history : withoutCompaction(history),
    ...(media && { media }),
    toolChoice: { type: toolChoice },
    ...(containerId !== undefined && { containerId }),
  });
}

/** Returns a tool as the history declares it, or an empty array if the tool stays in the request's tool list. */
export function toClientToolDefinition({ isTemporary, ...tool }: OfferedTool): ClientToolDefinition[] {
  return isTemporary ? [tool] : [];
}

/** Returns the history without the declarations of these tools. */
function withoutTools(history: readonly HistoryMessage[], names: readonly unknown[]): readonly HistoryMessage[] {
  if (names.length === 0) return history;
  return history.flatMap((message) => {
    const { role, blocks } = message;
    if (role !== "system") return message;
    const kept = blocks.filter((block) => !names.includes(announcedToolName(block)));
    return kept.length > 0 ? { role, blocks: kept } : [];
  });
}

/** Removes the API's own summaries. The API rejects them in requests that do not ask for a summary. */
function withoutCompaction(history: readonly HistoryMessage[]): readonly HistoryMessage[] {
  const isOld = ({ blockType }: HistoryBlock) => blockType === "compaction";
  if (!history.some(({ blocks }) => blocks.some(isOld))) return history;
  return history.map(({ role, blocks }) => ({ role, blocks: blocks.filter((block) => !isOld(block)) }));
}

const toolBytes = new WeakMap<object, number>();

/** Returns the size of what a model call contains besides the history, to estimate the call's tokens. */
export function overheadOf(tools: readonly OfferedTool[], instructionBytes: number): RequestOverhead {
  const bytes = tools.reduce((sum, { name, description, inputSchema }) => {
    const schema = toolBytes.get(inputSchema) ?? byteLength(JSON.stringify(inputSchema));
    toolBytes.set(inputSchema, schema);
    return sum + schema + byteLength(name) + byteLength(description);
  }, instructionBytes);
  return { key: `${tools.map(({ name }) => name).join()} ${bytes}`, bytes };
}

type Ask = (
  tools: readonly OfferedTool[],
  refused: readonly string[],
) => {
  readonly request: ModelRequest;
  readonly stream: AsyncIterable<ModelEvent>;
};

/** Repeats a call without its rejected tools. The API rejects a call before any event, so no event is repeated. */
async function* withoutRefused({ tools, onRefusedTool }: Offer, ask: Ask): AsyncGenerator<ModelEvent> {
  let left = tools;
  for (let refusals = 1; ; refusals++) {
    const names = tools.filter((tool) => !left.includes(tool)).map(({ name }) => name);
    const { request, stream } = ask(left, names);
    try {
      return yield* stream;
    } catch (error) {
      const place = error instanceof ModelError ? error.refusedTool : undefined;
      const refusedName = place && nameAt(request, place);
      const refused = left.find(({ name }) => name === refusedName);
      if (!place || !refused || refusals > MAX_REFUSALS) throw error;
      onRefusedTool(refused, place.field);
      const isLong = refusals >= MAX_REFUSALS_ONE_BY_ONE;
      left = left.filter((tool) => tool !== refused && !(isLong && tool.owner !== undefined));
    }
  }
}

/** Returns the name of a rejected tool, which is in the request's tool list or declared in one of its messages. */
function nameAt({ tools, messages }: ModelRequest, { index, message }: RefusedTool): unknown {
  if (message === undefined) return (tools?.[index] as { name?: unknown } | undefined)?.name;
  const content = messages[message]?.content as unknown as { tool?: { definition?: { name?: unknown } } }[] | undefined;
  return content?.[index]?.tool?.definition?.name;
}

/**
 * Whether thinking must be off. If a request has a thinking budget and ends with tool results, the API requires the
 * assistant message before them to start with thinking.
 */
function needsNoThinking(history: readonly HistoryMessage[]): boolean {
  const [step, last] = history.filter(({ role }) => role !== "system").slice(-2);
  const answers = last?.blocks.some(({ blockType }) => blockType === "tool_result") ?? false;
  const first = step?.blocks[0]?.blockType;
  return answers && first !== "thinking" && first !== "redacted_thinking";
}

/** One model call, as passed to its observer before it begins. */
export interface ChatCall {
  readonly request: ModelRequest;
  readonly history: readonly HistoryMessage[];
  readonly instructions: string;
  readonly tools: readonly OfferedTool[];
  /** Anthropic's server tools, in the API's format. */
  readonly serverTools: readonly JsonObject[];
  /** Where the model is called, if not at the address of the worker's own model. */
  readonly server?: ModelServerAddress;
}

/** Observes the events of a model call. Must pass every event on. */
export type ChatObserver = (call: ChatCall, stream: AsyncIterable<ModelEvent>) => AsyncIterable<ModelEvent>;
