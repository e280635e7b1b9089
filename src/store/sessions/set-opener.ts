import { type SessionWriter } from "./session-writer.ts";
import { runQuery } from "../database/store-error.ts";

/** Puts on record who opened the session: the participant of its first turn. A session keeps the one it has. */
export async function setOpener({ sql, lease }: SessionWriter, { identity }: { identity: string }): Promise<void> {
  const { sessionId, epoch } = lease;
  await runQuery(sql`
    update sessions set participant_identity = ${identity}, updated_at = now()
    where id = ${sessionId} and epoch = ${epoch} and participant_identity is null
  `);
}
