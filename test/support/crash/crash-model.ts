import type { HistoryMessage } from "../../../src/conversation/history.ts";
import { AppError } from "../../../src/errors/app-error.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { buildRequest } from "../../../src/llm/build-request.ts";
import type { ModelEvent } from "../../../src/llm/model-event.ts";
import type { OpenStream } from "../../../src/session/model/open-stream.ts";
import { IssuedContent } from "../../../src/model-server/issued-content.ts";
import { validateRequest } from "../../../src/model-server/validate-request.ts";

export interface PlannedUse {
  readonly name: string;
  readonly input: JsonObject;
}

/** A message that lists the calls for the model to make, step by step. */
export const toMessage = (steps: readonly (readonly PlannedUse[])[]) => `Do ${JSON.stringify(steps)}`;

const USAGE = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
let lastUse = 0;

/** The calls that remain for the model to make, according to the last message in the history. */
function plan(history: readonly HistoryMessage[]): readonly PlannedUse[] {
  const isTask = (text: string | null) =>
    text?.startsWith("Do [") === true || text?.startsWith("[The call of") === true;
  const at = history.findLastIndex(
    ({ role, blocks }) => role === "user" && blocks.some(({ textContent }) => isTask(textContent)),
  );
  const task = history[at]?.blocks.findLast(({ textContent }) => isTask(textContent))?.textContent ?? "";
  if (!task.startsWith("Do [")) return [];
  const isStep = ({ role, blocks }: HistoryMessage) =>
    role === "assistant" &&
    blocks.some(({ blockType, content }) => blockType === "tool_use" && content?.["tool_name"] !== "call_outcome");
  const done = history.slice(at + 1).filter(isStep).length;
  return (JSON.parse(task.slice(3)) as PlannedUse[][])[done] ?? [];
}

/** Why the real API would refuse the request, or `undefined` if it would not. */
export function verdictOf({ history, toolChoice, tools }: Parameters<OpenStream>[0]): string | undefined {
  const input = { model: "m", maxTokens: 1_000, tools, messages: history, toolChoice: { type: toolChoice } };
  return validateRequest({ ...buildRequest(input), stream: true }, new IssuedContent());
}

/**
 * Streams the reply that the last message in the history asks for.
 *
 * @param pause called before each event; does not resolve while the worker is dead or frozen
 */
export async function* think(
  request: Parameters<OpenStream>[0],
  signal: AbortSignal,
  pause: () => Promise<void>,
): AsyncGenerator<ModelEvent> {
  const verdict = verdictOf(request);
  if (verdict !== undefined) throw new AppError("malformed", verdict);
  const uses = request.toolChoice === "none" ? [] : plan(request.history);
  const events: ModelEvent[] = [{ type: "message_start", id: "msg", model: "m", usage: USAGE }];
  const text = uses.length > 0 ? "One moment." : "Done. That was it.";
  events.push(
    { type: "block_start", index: 0, blockType: "text" },
    { type: "block_delta", index: 0, delta: { type: "text", text } },
    { type: "block_stop", index: 0, block: { blockType: "text", textContent: text, content: null } },
  );
  for (const [index, { name, input }] of uses.entries()) {
    const toolUseId = `toolu_${++lastUse}`;
    const content = { tool_use_id: toolUseId, tool_name: name, input };
    events.push(
      { type: "block_start", index: index + 1, blockType: "tool_use", tool: { toolUseId, toolName: name } },
      { type: "block_stop", index: index + 1, block: { blockType: "tool_use", textContent: null, content } },
    );
  }
  const stopReason = uses.length > 0 ? "tool_use" : "end_turn";
  events.push({ type: "message_stop", stopReason, stopDetails: null, usage: USAGE });
  for (const event of events) {
    await pause();
    signal.throwIfAborted();
    yield event;
  }
}
