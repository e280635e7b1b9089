import { AppError } from "../../errors/app-error.ts";
import { abortable } from "../../lib/abortable.ts";
import { postWhole } from "../answer/post-whole.ts";
import type { ConversationArchive } from "../record/conversation-archive.ts";
import type { Outbox } from "../wire/outbox.ts";
import { messageCost } from "./message-budget.ts";

/** How many of the newest answers are sent again at most. */
const MAX_ANSWERS = 50;
/** How long a returning client waits for the database. */
const READ_WITHIN_MS = 2_000;

/** The cost of reading older answers, in tokens of the client's budget. */
const READ_COST = 10;

interface CatchUpOptions {
  readonly outbox: Outbox;
  readonly archive: Pick<ConversationArchive, "answers">;
  /** Called with the cost, in tokens of the client's budget. */
  readonly charge: (cost: number) => void;
}

/**
 * Sends a returning client what it has missed: first the answers whose messages are no longer retained, each as one
 * AssistantMessage, then the retained messages, unchanged. Error 202 reports a gap that may not have been filled.
 * Returns `undefined` if nothing had to be read. The promise never rejects.
 *
 * @throws {AppError} `too_many` if too many messages are already waiting to be sent
 */
export function catchUp(
  identity: string,
  seen: number,
  { outbox, archive, charge }: CatchUpOptions,
): Promise<void> | undefined {
  const after = Math.abs(seen);
  const { hasGap, goneUntil, entries } = outbox.missedBy(identity, seen);
  charge(messageCost(entries.reduce((sum, { bytes }) => sum + bytes.length, 0)));
  if (!hasGap) {
    outbox.sendAgain(entries, identity);
    return undefined;
  }
  charge(READ_COST);
  const reading = archive.answers({ after, until: goneUntil, limit: MAX_ANSWERS + 1 });
  return abortable(reading, AbortSignal.timeout(READ_WITHIN_MS))
    .catch(() => undefined)
    .then((gone) => {
      const isUnclear = !gone || gone.length > MAX_ANSWERS || gone.some(({ lastStanza }) => lastStanza === null);
      if (isUnclear)
        outbox.postError(new AppError("invalid_state", "Some older messages are no longer available"), identity);
      for (const answer of gone?.slice(-MAX_ANSWERS) ?? []) {
        charge(messageCost(answer.texts.reduce((sum, text) => sum + text.length, 0)));
        postWhole(answer, outbox, [identity]);
      }
      outbox.sendAgain(entries, identity);
    });
}
