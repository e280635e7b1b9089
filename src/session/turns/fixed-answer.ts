import { type ModelEvent, NO_USAGE } from "../../llm/model-event.ts";
import type { TurnInput } from "./turn-queue.ts";

/**
 * Returns the fixed answer of a turn, such as a greeting, as a model stream. Returns `undefined` if the model should be
 * called. If a resumed turn already contains its answer, the stream has no text.
 */
export function fixedAnswerOf(begin: TurnInput): AsyncIterable<ModelEvent> | undefined {
  const { input } = "turn" in begin ? begin.turn : begin;
  // The last one counts: the silence after a message that does not address the agent follows an answer of a hook.
  const words = input.flatMap((part) => (part.type === "note" ? (part.say ?? []) : [])).at(-1);
  const isAnswered = "turn" in begin && begin.turn.blocks.some(({ blockType }) => blockType === "text");
  return words === undefined ? undefined : streamOf(isAnswered ? "" : words);
}

async function* streamOf(text: string): AsyncGenerator<ModelEvent> {
  if (text !== "") {
    yield { type: "block_start", index: 0, blockType: "text" };
    yield { type: "block_delta", index: 0, delta: { type: "text", text } };
    yield { type: "block_stop", index: 0, block: { blockType: "text", textContent: text, content: null } };
  }
  yield { type: "message_stop", stopReason: "end_turn", stopDetails: null, usage: NO_USAGE };
}
