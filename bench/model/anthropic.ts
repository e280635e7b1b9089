import type { Step } from "./messages.ts";

/** Formats a step as server-sent events of Anthropic's Messages API. */
export function* toAnthropicEvents(step: Step, toolUseId: string): Generator<string> {
  const isTool = step.kind === "tool_input";
  const usage = { input_tokens: 100, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "bench", content: [], usage };
  yield toSse({ type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } });
  const block = isTool
    ? { type: "tool_use", id: toolUseId, name: "look_up", input: {} }
    : { type: "text", text: "", citations: null };
  yield toSse({ type: "content_block_start", index: 0, content_block: block });
  for (const piece of step.pieces) {
    const delta = isTool ? { type: "input_json_delta", partial_json: piece } : { type: "text_delta", text: piece };
    yield toSse({ type: "content_block_delta", index: 0, delta });
  }
  yield toSse({ type: "content_block_stop", index: 0 });
  const delta = { stop_reason: isTool ? "tool_use" : "end_turn", stop_sequence: null };
  yield toSse({ type: "message_delta", delta, usage: { output_tokens: 30 } });
  yield toSse({ type: "message_stop" });
}

function toSse(event: { readonly type: string; readonly [field: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
