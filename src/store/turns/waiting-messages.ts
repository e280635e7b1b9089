import type { InputAttachment } from "../../conversation/turn-record.ts";
import { runQuery } from "../database/store-error.ts";
import { type SessionWriter, writeFenced } from "../sessions/session-writer.ts";

/** A participant's message that has no turn yet. */
export interface WaitingMessage {
  readonly id: string;
  readonly participantIdentity: string;
  readonly content: string;
  /** @defaultValue none */
  readonly attachments?: readonly InputAttachment[];
}

/**
 * Stores a message until its turn is stored (`insertTurn`). Does nothing if the message or its turn is already stored.
 */
export async function insertWaitingMessage(writer: SessionWriter, message: WaitingMessage): Promise<void> {
  const { sql, lease } = writer;
  const { id, participantIdentity, content, attachments = [] } = message;
  const statement = sql`
    insert into waiting_messages (session_id, id, participant_identity, content, attachments)
    select
      ${lease.sessionId}, ${id}, ${participantIdentity}, ${content},
      ${sql.json(attachments.map((part) => ({ ...part })))}::jsonb
    from fence
    where not exists (select from turns where session_id = ${lease.sessionId} and parent_message_id = ${id})
    on conflict do nothing
    returning id
  `;
  await writeFenced(writer, statement);
}

/**
 * Loads the messages that an earlier worker stored and that still have no turn, oldest first. Deletes those that
 * arrived more than `withinMs` ago, because nobody is waiting for an answer anymore.
 */
export async function loadWaitingMessages(
  writer: SessionWriter,
  { withinMs }: { readonly withinMs: number },
): Promise<readonly WaitingMessage[]> {
  const { sql, lease } = writer;
  const { sessionId } = lease;
  const forgetting = sql`
    delete from waiting_messages as waiting using fence where session_id = ${sessionId} and (
      created_at < now() - ${withinMs} * interval '1 millisecond'
      or exists (select from turns where turns.session_id = ${sessionId} and parent_message_id = waiting.id)
    )
    returning waiting.id
  `;
  await writeFenced(writer, forgetting);
  return await runQuery(sql<WaitingMessage[]>`
    select id, participant_identity as "participantIdentity", content, attachments
    from waiting_messages where session_id = ${sessionId} order by position
  `);
}
