import { AppError } from "../../errors/app-error.ts";
import type { InputPart } from "../../conversation/turn-record.ts";
import type { MessageBody } from "../../protocol/messages/messages.ts";
import type { FoundTurn } from "../../store/turns/find-turns.ts";
import type { NewTurn } from "./turn-queue.ts";

/**
 * The turn that a ControlVariation asks for. `regenerate` and `edit` replace the turn of the message that they name,
 * and all later ones, in the history. `continue` goes on from the last turn.
 *
 * @param target the turn of the message that is named, if there is one
 * @throws {AppError} `conversation_not_found` when no turn has the message, `malformed` when an edit has no content
 */
export function toVariationTurn(
  { targetId, mode, newContent }: MessageBody<"control_variation">,
  participant: string,
  target: FoundTurn | undefined,
): NewTurn {
  if (!target) throw new AppError("conversation_not_found", "control_variation.targetId: no such message in this talk");
  const varied = { participant, messageId: target.parentMessageId ?? targetId, isVariation: true };
  switch (mode) {
    case "continue":
      return { ...varied, input: [{ type: "text", text: newContent ?? "Please continue." }] };
    case "regenerate":
      return { ...varied, input: saidAgain(target, participant), replaces: target };
    // The edited message keeps its attachments.
    case "edit":
      if (newContent === undefined || newContent.trim() === "") {
        throw new AppError("malformed", "control_variation.newContent: expected some text");
      }
      return {
        ...varied,
        input: [...target.input.filter(({ type }) => type === "attachment"), { type: "text", text: newContent }],
        replaces: target,
      };
  }
}

/**
 * What was said, with its sender only if another participant asks. The worker's notes are left out: it adds new ones.
 */
function saidAgain({ input, participantIdentity }: FoundTurn, participant: string): InputPart[] {
  return input.flatMap((part): InputPart[] => {
    if (part.type === "note") return [];
    if (part.type === "attachment") return [part];
    const { from = participantIdentity, ...said } = part;
    return [from === participant ? { type: "text", text: said.text } : { ...said, from }];
  });
}
