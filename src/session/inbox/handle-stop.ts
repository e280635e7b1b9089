import { AppError } from "../../errors/app-error.ts";
import type { MessageBody } from "../../protocol/messages/messages.ts";
import type { Peer } from "../peers/peer.ts";
import type { TalkArchive } from "../record/talk-archive.ts";
import type { Outbox } from "../wire/outbox.ts";

interface StopPorts {
  /** Stops the running turn; `false` if the id names something else. */
  readonly turns: { stop(targetId: string | undefined, what: "generation" | "speech" | "all"): boolean };
  /** Cancels an open call; `false` if there is none of this id. */
  readonly calls: { cancel(callId: string): boolean };
  readonly archive: Pick<TalkArchive, "has">;
  readonly outbox: Pick<Outbox, "postError">;
}

/**
 * Stops the answer that a ControlStop names, or cancels the one call that it names. What it names may have ended just
 * before, and then nothing is left to do. An id that the session does not know is answered with an ErrorMessage; the promise
 * resolves after that, so that the sender has it before the Ack.
 */
export function handleStop(
  { identity }: Peer,
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
