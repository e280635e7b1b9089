import type { Sql } from "../database/pool.ts";
import { writeFenced, type SessionWriter } from "../sessions/session-writer.ts";
import { runQuery } from "../database/store-error.ts";
import { idsOfMessage } from "./find-turns.ts";

export interface Commentary {
  /** The id of the user or assistant message that the commentary is about. */
  readonly messageId: string;
  /** The participant that wrote the commentary. */
  readonly participantIdentity: string;
  readonly content: string;
  readonly commentaryType?: string | undefined;
}

/** The maximum number of commentaries per turn. */
export const MAX_COMMENTARIES = 20;

/**
 * Stores a commentary with the turn of its message. Does nothing if the turn does not exist or already has
 * `MAX_COMMENTARIES`.
 */
export async function insertCommentary(
  writer: SessionWriter,
  commentary: Commentary,
): Promise<"stored" | "unknown_message" | "too_many"> {
  const { sql, lease } = writer;
  const { messageId, participantIdentity, content, commentaryType = null } = commentary;
  const statement = sql`
    insert into commentaries (turn_id, message_id, participant_identity, content, commentary_type)
    select id, ${messageId}, ${participantIdentity}, ${content}, ${commentaryType}
    from ${turnOf(sql, lease.sessionId, messageId)}, fence
    where (select count(*) from commentaries where turn_id = turn.id) < ${MAX_COMMENTARIES}
    returning id
  `;
  if ((await writeFenced(writer, statement)).length > 0) return "stored";
  const turns = await runQuery(sql`select from ${turnOf(sql, lease.sessionId, messageId)}`);
  return turns.length > 0 ? "too_many" : "unknown_message";
}

/** Selects the newest turn with this user or assistant message, as `turn`. */
function turnOf(sql: Sql, sessionId: string, messageId: string) {
  return sql`(
    select id from turns where id in ${idsOfMessage(sql, { sessionId, messageId })} order by position desc limit 1
  ) as turn`;
}
