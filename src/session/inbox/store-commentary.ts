import { AppError } from "../../errors/app-error.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { MessageBody } from "../../protocol/messages/messages.ts";
import type { Outbox } from "../wire/outbox.ts";
import type { ParticipantState } from "../participants/participant-state.ts";
import type { Recorder } from "../record/recorder.ts";

interface CommentaryPorts {
  readonly recorder: Pick<Recorder, "comment">;
  readonly outbox: Pick<Outbox, "postError">;
}

/**
 * Stores a participant's comment on a message. If storing fails, the participant gets an ErrorMessage.
 *
 * @throws {AppError} `too_large`
 */
export function storeCommentary(
  { identity }: ParticipantState,
  { id, ...note }: MessageBody<"commentary">,
  { recorder, outbox }: CommentaryPorts,
): void {
  if (Buffer.byteLength(note.content + (note.commentaryType ?? "")) > LIMITS.shortTextBytes)
    throw new AppError("too_large", `commentary: longer than ${LIMITS.shortTextBytes} bytes`);
  recorder
    .comment({ ...note, participantIdentity: identity })
    .catch((error: unknown) => outbox.postError(error, identity, id));
}
