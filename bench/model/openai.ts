import { type Step } from "./messages.ts";

/** A step as server-sent events of OpenAI's Chat Completions. */
export function* toOpenAiEvents(step: Step, toolCallId: string): Generator<string> {
  yield toSse({ role: "assistant", content: "" });
  if ("toolInput" in step) {
    const call = { name: "look_up", arguments: JSON.stringify(step.toolInput) };
    yield toSse({ tool_calls: [{ index: 0, id: toolCallId, type: "function", function: call }] });
    yield toSse({}, "tool_calls");
  } else {
    for (const content of step.words) yield toSse({ content });
    yield toSse({}, "stop");
  }
  yield `data: ${JSON.stringify({ ...CHUNK, choices: [], usage: USAGE })}\n\n`;
  yield "data: [DONE]\n\n";
}

const CHUNK = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model: "bench" };
const USAGE = { prompt_tokens: 100, completion_tokens: 30, total_tokens: 130 };

function toSse(delta: object, finish_reason: string | null = null): string {
  return `data: ${JSON.stringify({ ...CHUNK, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
}
