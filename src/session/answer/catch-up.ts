import { type TurnRecord } from "../../conversation/turn-record.ts";
import { AppError } from "../../errors/app-error.ts";
import { type Outbox } from "../wire/outbox.ts";

/** A turn that has ended. `lastStanza`: the worker's stanza number at its end, positive, if known. */
export type AnsweredTurn = TurnRecord & { readonly lastStanza?: number | undefined };

/** Older answers than these are not sent again. */
const MAX_ANSWERS = 50;

/**
 * Sends a client that came back what it has missed. Answers whose messages are no longer kept come first, each as one
 * AssistantMessage; then the kept messages, unchanged. Error 202 tells of a gap that may not have been filled.
 *
 * @throws {AppError} `too_many` when too much waits to be sent already
 */
export function catchUp(
  identity: string,
  lastSequenceSeen: number,
  { outbox, past }: { readonly outbox: Outbox; readonly past: readonly AnsweredTurn[] },
): void {
  const { entries, hasGap, goneUntil } = outbox.missedBy(identity, lastSequenceSeen);
  const seen = Math.abs(lastSequenceSeen);
  const isGone = ({ lastStanza = goneUntil }: AnsweredTurn) => lastStanza > seen && lastStanza <= goneUntil;
  const gone = hasGap ? past.filter(isGone) : [];
  const unclear = gone.length > MAX_ANSWERS || gone.some(({ lastStanza }) => lastStanza === undefined);
  if (unclear) outbox.postError(new AppError("invalid_state", "Some older messages are no longer held"), identity);
  for (const turn of gone.slice(-MAX_ANSWERS)) postAnswer(turn, identity, outbox);
  outbox.sendAgain(entries, identity);
}

function postAnswer({ messageId, parentMessageId, blocks }: AnsweredTurn, identity: string, outbox: Outbox): void {
  const texts = blocks.flatMap(({ blockType, textContent }) => (blockType === "text" ? (textContent ?? []) : []));
  const previous = parentMessageId === null ? {} : { previousId: parentMessageId };
  const body = { id: messageId, ...previous, content: texts.join("\n") };
  outbox.post({ type: "assistant_message", body }, { to: [identity] });
}
