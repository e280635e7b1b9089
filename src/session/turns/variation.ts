import { AppError } from "../../errors/app-error.ts";
import type { InputPart } from "../../conversation/turn-record.ts";
import type { MessageBody } from "../../protocol/messages/messages.ts";
import type { FoundTurn } from "../../store/turns/find-turns.ts";
import type { ConversationArchive } from "../record/conversation-archive.ts";
import type { Outbox } from "../wire/outbox.ts";
import type { NewTurn, VariationRequest } from "./turn-queue.ts";

interface VariationPorts {
  readonly archive: Pick<ConversationArchive, "find">;
  readonly outbox: Pick<Outbox, "postError">;
  /** Whether a message is being answered or waits for its answer, so that its turn may not be stored yet. */
  readonly isOpen: (messageId: string) => boolean;
  /** @throws {AppError} `queue_overflow`, `unavailable` */
  readonly add: (request: VariationRequest) => void;
}

/** Queues a variation. Resolves once it is accepted, or refused with an ErrorMessage. @throws {AppError} as `add` */
export function addVariation(request: Omit<VariationRequest, "refused">, ports: VariationPorts): Promise<void> {
  const refused = Promise.withResolvers<boolean>();
  const isOpen = ports.isOpen(request.variation.targetId);
  // Added before it is checked, so that variations and messages keep their order.
  ports.add({ ...request, refused: refused.promise });
  refused.resolve(refuse(request, isOpen, ports));
  return refused.promise.then(() => {});
}

/** Returns the turn of a waiting variation, or `undefined` if refused. @throws {AppError} as `toVariationTurn` */
export async function takeVariation(
  { participant, variation, meta, refused }: VariationRequest,
  archive: VariationPorts["archive"],
): Promise<NewTurn | undefined> {
  if (await refused) return undefined;
  return { ...toVariationTurn(variation, participant, await archive.find(variation.targetId)), meta };
}

/** Reads what a turn needs that replaces the turns from this position on. */
export async function readReplaced(
  archive: Pick<ConversationArchive, "windowBefore" | "reportedOutcomes" | "stateUndo">,
  position: number,
) {
  const reading = [archive.windowBefore(position), archive.reportedOutcomes(position)] as const;
  const [window, late] = await Promise.all(reading);
  return { window, late, undo: await archive.stateUndo(position) };
}

/** Checks a variation and resolves to whether it is refused. If so, its sender gets an ErrorMessage. Never rejects. */
async function refuse(
  { participant, variation }: Omit<VariationRequest, "refused">,
  isOpen: boolean,
  { archive, outbox }: VariationPorts,
): Promise<boolean> {
  try {
    toVariationTurn(variation, participant, await archive.find(variation.targetId));
    return false;
  } catch (error) {
    // The message's turn may not be stored yet. The message is looked up again when the variation runs.
    if (isOpen && error instanceof AppError && error.code === "conversation_not_found") return false;
    outbox.postError(error, participant, variation.targetId);
    return true;
  }
}

/**
 * Returns the turn that a ControlVariation requests. `regenerate` and `edit` replace the target message's turn, and all
 * later ones, in the history. `continue` adds a turn after the last one.
 *
 * @param target the target message's turn, if there is one
 * @throws {AppError} `conversation_not_found` when no turn contains the message, `malformed` when an edit has no
 *   content
 */
function toVariationTurn(
  { targetId, mode, newContent }: MessageBody<"control_variation">,
  participant: string,
  target: FoundTurn | undefined,
): NewTurn {
  if (mode === "edit" && (newContent === undefined || newContent.trim() === ""))
    throw new AppError("malformed", "control_variation.newContent: expected some text");
  if (!target)
    throw new AppError("conversation_not_found", "control_variation.targetId: no such message in this session");
  const varied = { participant, messageId: target.parentMessageId ?? targetId, isVariation: true };
  switch (mode) {
    case "continue":
      return { ...varied, input: [{ type: "text", text: newContent ?? "Please continue." }] };
    case "regenerate":
      return { ...varied, input: inputToRepeat(target, participant), replaces: target, isRepeated: true };
    // The edited message keeps its attachments.
    case "edit":
      return {
        ...varied,
        input: [...target.input.filter(({ type }) => type === "attachment"), { type: "text", text: newContent ?? "" }],
        replaces: target,
      };
  }
}

/**
 * Returns the input of a turn that is run again. Adds the sender only if another participant requests the variation.
 * Omits the worker's notes, because the new turn gets its own, but keeps what a hook has added or changed.
 */
function inputToRepeat({ input, participantIdentity }: FoundTurn, participant: string): InputPart[] {
  return input.flatMap((part): InputPart[] => {
    if (part.type === "note") return part.isFromHook ? [part] : [];
    if (part.type === "attachment") return [part];
    const { from = participantIdentity, ...said } = part;
    if (from !== participant) return [{ ...said, from }];
    const { name: _name, ...own } = said;
    return [own];
  });
}
