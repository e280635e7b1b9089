import { createId } from "../../lib/id.ts";
import { AnswerOutput } from "./answer-output.ts";
import { type Outbox } from "../wire/outbox.ts";
import { type RoomLink } from "../room/room-link.ts";

interface ApartOptions {
  readonly outbox: Outbox;
  readonly link: Pick<RoomLink, "openTranscription">;
  /** What it goes on from. */
  readonly previousId: string;
  readonly participant: string;
  readonly language: string | undefined;
}

/** Shows a few words of the worker's own while no turn is there to say them in: an answer that is on no record. Never rejects. */
export async function sayApart(text: string, { previousId, ...options }: ApartOptions): Promise<void> {
  const messageId = createId();
  options.outbox.post({ type: "start_answer", body: { id: messageId, previousId, answerType: "text" } });
  const answer = new AnswerOutput({
    ...options,
    messageId,
    voice: undefined,
    said: { texts: [], asides: 0 },
    onInterrupted: () => {},
    onAside: () => {},
  });
  answer.write(text);
  await answer.end();
}
