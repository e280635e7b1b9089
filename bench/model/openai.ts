import type { Step } from "./messages.ts";

/** Formats a step as server-sent events of OpenAI's Chat Completions. */
export function* toOpenAiEvents(step: Step, toolCallId: string): Generator<string> {
  yield toSse({ role: "assistant", content: "" });
  const isTool = step.kind === "tool_input";
  if (isTool)
    yield toSse(toolDelta({ id: toolCallId, type: "function", function: { name: "look_up", arguments: "" } }));
  for (const piece of step.pieces)
    yield toSse(isTool ? toolDelta({ function: { arguments: piece } }) : { content: piece });
  yield toSse({}, isTool ? "tool_calls" : "stop");
  yield `data: ${JSON.stringify({ ...CHUNK, choices: [], usage: USAGE })}\n\n`;
  yield "data: [DONE]\n\n";
}

const CHUNK = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model: "bench" };
const USAGE = { prompt_tokens: 100, completion_tokens: 30, total_tokens: 130 };

function toolDelta(call: object): object {
  return { tool_calls: [{ index: 0, ...call }] };
}

function toSse(delta: object, finish_reason: string | null = null): string {
  return `data: ${JSON.stringify({ ...CHUNK, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
}
