import { type Sql } from "./pool.ts";
import { runQuery } from "./store-error.ts";

/** Lets the next worker claim the session at once. Does nothing if the lease is another owner's. */
export async function releaseLease(
  sql: Sql,
  { sessionId, owner }: { sessionId: string; owner: string },
): Promise<void> {
  await runQuery(sql`
    update sessions
    set lease_owner = null, lease_expires_at = null, updated_at = now()
    where id = ${sessionId} and lease_owner = ${owner}
  `);
}
