import { type SessionWriter } from "./session-writer.ts";
import { runQuery } from "../database/store-error.ts";

/** Lets the next worker claim the session at once. Does nothing once another has. */
export async function releaseLease({ sql, lease }: SessionWriter): Promise<void> {
  const { sessionId, epoch } = lease;
  await runQuery(sql`
    update sessions
    set lease_owner = null, lease_expires_at = null, updated_at = now()
    where id = ${sessionId} and epoch = ${epoch}
  `);
}
