import { type Anthropic } from "@anthropic-ai/sdk";

const EPHEMERAL = { type: "ephemeral" } as const;

/** Block types that take `cache_control`; thinking and types unknown here do not. */
const CACHEABLE = /^(text|image|document|tool_use|tool_result|server_tool_use|.+_tool_result)$/;

/** The breakpoint of a list of tools or system texts: its last item. Everything before it is cached with it. */
export function withBreakpoint<Item extends object>(
  items: readonly Item[],
  isAllowed: (item: Item) => boolean,
): Item[] {
  const last = items.findLastIndex(isAllowed);
  return items.map((item, index) => (index === last ? { ...item, cache_control: EPHEMERAL } : item));
}

/**
 * Marks the growing history twice: at its end, to be written, and at the end of the last user message before that.
 * There the previous request ended, so it is read back however many blocks the step in between has, while a single
 * mark would look back over 20 blocks only.
 */
export function withHistoryBreakpoints(messages: readonly Anthropic.MessageParam[]): Anthropic.MessageParam[] {
  const end = messages.length - 1;
  const before = messages.findLastIndex(({ role }, index) => role === "user" && index < end);
  return messages.map((message, index) => {
    if ((index !== end && index !== before) || typeof message.content === "string") return message;
    return { ...message, content: withBreakpoint<object>(message.content, isCacheable) } as Anthropic.MessageParam;
  });
}

function isCacheable(block: object): boolean {
  if (!("type" in block) || !CACHEABLE.test(String(block.type)) || block.type === "mcp_tool_result") return false;
  return !("text" in block) || String(block.text).trim() !== "";
}
