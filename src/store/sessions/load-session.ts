import { type Sql } from "../database/pool.ts";
import { type SessionRecord, type SessionRow, toSessionRecord } from "./session-record.ts";
import { runQuery } from "../database/store-error.ts";

/** Takes no lease: for whoever may only look, and to see whose conversation it is before claiming it. */
export async function loadSession(
  sql: Sql,
  { conversationId }: { conversationId: string },
): Promise<SessionRecord | undefined> {
  const rows = await runQuery(sql<SessionRow[]>`
    select * from sessions where conversation_id = ${conversationId}
  `);
  return rows[0] && toSessionRecord(rows[0]);
}
