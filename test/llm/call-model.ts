import { buildRequest, type RequestInput } from "../../src/llm/build-request.ts";
import type { HistoryBlock, HistoryMessage } from "../../src/conversation/history.ts";
import type { ModelEvent } from "../../src/llm/model-event.ts";
import { createModel, type ModelOptions } from "../../src/llm/stream-message.ts";

export const user = (...blocks: (HistoryBlock | string)[]): HistoryMessage => ({
  role: "user",
  blocks: blocks.map((block) =>
    typeof block === "string" ? { blockType: "text", textContent: block, content: null } : block,
  ),
});

export const assistant = (...blocks: HistoryBlock[]): HistoryMessage => ({ role: "assistant", blocks });

export const toolResult = (tool_use_id: string, content: string): HistoryBlock => ({
  blockType: "tool_result",
  textContent: null,
  content: { tool_use_id, content },
});

export const tool = (name: string) => ({ name, description: `Does ${name}.`, inputSchema: { type: "object" } });

export const WEB_SEARCH = { type: "web_search_20260318", name: "web_search" };

export function request(messages: readonly HistoryMessage[], input: Partial<RequestInput> = {}) {
  return buildRequest({ model: "claude-sonnet-5-5", maxTokens: 4096, messages, ...input });
}

export interface Call {
  readonly input?: Partial<RequestInput>;
  readonly options?: Partial<ModelOptions>;
  readonly signal?: AbortSignal;
}

/** Makes one model call, and reads the answer to its end. */
export async function callModel(url: string, messages: readonly HistoryMessage[], call: Call = {}) {
  const { input, options, signal = new AbortController().signal } = call;
  const model = createModel({ apiKey: "test-key", baseUrl: url, ...options });
  const events = await Array.fromAsync(model.stream(request(messages, input), signal));
  return { events, blocks: blocksOf(events), stop: events.find((event) => event.type === "message_stop") };
}

export function blocksOf(events: readonly ModelEvent[]): HistoryBlock[] {
  return events.flatMap((event) => (event.type === "block_stop" ? [event.block] : []));
}

export async function* iterate(events: readonly unknown[]): AsyncGenerator<unknown> {
  yield* events;
}
