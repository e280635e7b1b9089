import { type TurnRecord } from "../../conversation/turn-record.ts";
import { AppError } from "../../errors/app-error.ts";
import { createId } from "../../lib/id.ts";
import { type MessageBody } from "../../protocol/messages/messages.ts";
import { type AnsweredTurn } from "../answer/catch-up.ts";
import { type NewTurn, type TurnInput } from "./turn-queue.ts";

/**
 * The turn that a ControlVariation asks for. `regenerate` and `edit` replace the turn of the message that they name,
 * and all later ones, in the history. `continue` goes on from the last turn.
 *
 * @throws {AppError} `conversation_not_found` when no turn has the message, `malformed` when an edit has no content
 */
export function toVariationTurn(
  { targetId, mode, newContent }: MessageBody<"control_variation">,
  participant: string,
  past: readonly TurnRecord[],
): NewTurn {
  const target = past.findLast(
    ({ messageId, parentMessageId }) => messageId === targetId || parentMessageId === targetId,
  );
  if (!target) throw new AppError("conversation_not_found", "control_variation.targetId: no such message in this talk");
  const answers = target.parentMessageId ?? targetId;
  const messageId = createId();
  switch (mode) {
    case "continue":
      return { participant, messageId, answers, input: [{ type: "text", text: newContent ?? "Please continue." }] };
    case "regenerate":
      return { participant, messageId, answers, input: target.input, replaces: target.id };
    case "edit":
      if (newContent === undefined || newContent.trim() === "") {
        throw new AppError("malformed", "control_variation.newContent: expected some text");
      }
      return { participant, messageId, answers, input: [{ type: "text", text: newContent }], replaces: target.id };
  }
}

/** The turns that a turn goes on from: without the turn that it replaces, and all after that one. */
export function pastOf(begin: TurnInput, past: readonly AnsweredTurn[]): readonly AnsweredTurn[] {
  const replaced = "turn" in begin ? -1 : past.findIndex(({ id }) => id === begin.replaces);
  return replaced < 0 ? past : past.slice(0, replaced);
}
