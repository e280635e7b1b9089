import { AppError } from "../../errors/app-error.ts";
import type { MessageBody } from "../../protocol/messages/messages.ts";
import type { ParticipantState } from "../participants/participant-state.ts";
import type { ConversationArchive } from "../record/conversation-archive.ts";
import type { Outbox } from "../wire/outbox.ts";

interface StopPorts {
  /** Stops the running turn. Returns `false` if the id refers to something else. */
  readonly turns: { stop(targetId: string | undefined, what: "generation" | "speech" | "all"): boolean };
  /** Cancels an open call. Returns `false` if no open call has this id. */
  readonly calls: { cancel(callId: string): boolean };
  readonly archive: Pick<ConversationArchive, "has">;
  readonly outbox: Pick<Outbox, "postError">;
}

/**
 * Stops the answer or cancels the call that a ControlStop refers to. Does nothing if the answer or call has already
 * ended. If the id is unknown in this session, the sender receives an ErrorMessage. In that case, the returned promise
 * resolves after the ErrorMessage was sent, so that the Ack follows it.
 */
export function handleStop(
  { identity }: ParticipantState,
  { targetId, stopType = "generation" }: MessageBody<"control_stop">,
  { turns, calls, archive, outbox }: StopPorts,
): Promise<void> | undefined {
  if (turns.stop(targetId, stopType) || targetId === undefined || calls.cancel(targetId)) return undefined;
  return archive
    .has(targetId)
    .then((isKnown) => {
      if (isKnown) return;
      throw new AppError("conversation_not_found", "control_stop.targetId: no such answer or call in this session");
    })
    .catch((error: unknown) => outbox.postError(error, identity, targetId));
}
