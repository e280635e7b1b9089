import { AppError } from "../../errors/app-error.ts";
import type { InputPart } from "../../conversation/turn-record.ts";
import type { MessageBody } from "../../protocol/messages/messages.ts";
import type { FoundTurn } from "../../store/turns/find-turns.ts";
import type { NewTurn } from "./turn-queue.ts";

/**
 * Returns the turn that a ControlVariation requests. `regenerate` and `edit` replace the turn of the named message, and
 * all later ones, in the history. `continue` adds a turn after the last one.
 *
 * @param target the turn of the named message, if there is one
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
 * Returns the input again, naming its sender only if another participant requests the variation. Omits the worker's
 * notes, because the new turn gets its own.
 */
function saidAgain({ input, participantIdentity }: FoundTurn, participant: string): InputPart[] {
  return input.flatMap((part): InputPart[] => {
    if (part.type === "note") return [];
    if (part.type === "attachment") return [part];
    const { from = participantIdentity, ...said } = part;
    return [from === participant ? { type: "text", text: said.text } : { ...said, from }];
  });
}
