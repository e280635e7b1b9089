import { createHash } from "node:crypto";
import { type Json, type Step, type StepBlock, jsonDeltas, pieces } from "./step.ts";

export interface EventContext {
  readonly model: string;
  readonly messageId: string;
  readonly usage: Json;
  readonly nextToolUseId: () => string;
  /** The summary that the API writes before the answer, and the summary's usage. */
  readonly summary?: { readonly block: StepBlock; readonly usage: Json };
}

const SUMMARY_TOKENS = 200;

/** Returns the events of a reply, as Anthropic streams them. A recorded stream is returned unchanged. */
export function toEvents(step: Extract<Step, { kind: "reply" | "recorded" }>, context: EventContext): Json[] {
  const events = step.kind === "recorded" ? [...step.events] : replyEvents(step, context);
  for (const { at, event } of step.options.insert ?? []) events.splice(at, 0, event);
  return events;
}

function replyEvents({ blocks: own, options }: Extract<Step, { kind: "reply" }>, context: EventContext): Json[] {
  const { chunking = 20 } = options;
  const { summary } = context;
  const blocks = summary ? [summary.block, ...own] : own;
  const events: Json[] = [messageStart(context)];
  for (const [index, block] of blocks.entries()) {
    const { start, deltas } = toBlock(block, chunking, context);
    events.push({ type: "content_block_start", index, content_block: start });
    for (const delta of deltas) events.push({ type: "content_block_delta", index, delta });
    events.push({ type: "content_block_stop", index });
  }
  const usesTools = blocks.some((block) => block.kind === "tool_use");
  const outputTokens = Math.ceil(JSON.stringify(blocks).length / 4);
  events.push({
    type: "message_delta",
    delta: {
      stop_reason: options.stopReason ?? (usesTools ? "tool_use" : "end_turn"),
      stop_sequence: null,
      stop_details: options.stopDetails ?? null,
      container: options.container ?? null,
    },
    usage: {
      ...context.usage,
      output_tokens: outputTokens,
      ...(summary && { iterations: [{ type: "compaction", ...summary.usage, output_tokens: SUMMARY_TOKENS }] }),
    },
  });
  events.push({ type: "message_stop" });
  return events;
}

function messageStart({ model, messageId, usage }: EventContext): Json {
  const message = {
    id: messageId,
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
  return { type: "message_start", message: { ...message, usage: { ...usage, output_tokens: 1 } } };
}

function toBlock(block: StepBlock, chunking: number, context: EventContext): { start: Json; deltas: readonly Json[] } {
  switch (block.kind) {
    case "text":
      return {
        start: { type: "text", text: "", citations: block.citations.length > 0 ? [] : null },
        deltas: [
          ...block.citations.map((citation) => ({ type: "citations_delta", citation })),
          ...pieces(block.text, chunking).map((piece) => ({ type: "text_delta", text: piece })),
        ],
      };
    case "thinking":
      return {
        start: { type: "thinking", thinking: "", signature: "" },
        deltas: [
          ...pieces(block.text, chunking).map((piece) => ({ type: "thinking_delta", thinking: piece })),
          { type: "signature_delta", signature: sign(block.text) },
        ],
      };
    case "tool_use": {
      const id = block.id ?? context.nextToolUseId();
      const start = { type: "tool_use", id, name: block.name, input: {}, caller: { type: "direct" } };
      return { start, deltas: jsonDeltas(block.json, chunking) };
    }
    case "raw":
      return { start: block.start, deltas: block.deltas };
  }
}

function sign(content: string): string {
  return `sig_${createHash("sha256").update(`model-server ${content}`).digest("base64url")}`;
}
