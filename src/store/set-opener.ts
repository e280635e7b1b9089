import { type Sql } from "./pool.ts";
import { runQuery } from "./store-error.ts";

/** Puts on record who opened the session: the participant of its first turn. A session keeps the one it has. */
export async function setOpener(
  sql: Sql,
  { sessionId, identity }: { sessionId: string; identity: string },
): Promise<void> {
  await runQuery(sql`
    update sessions set participant_identity = ${identity}, updated_at = now()
    where id = ${sessionId} and participant_identity is null
  `);
}
