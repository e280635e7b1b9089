import { type Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

/** Frees whatever a worker that is known to be dead has claimed, so that nobody waits for its lease to run out. */
export async function releaseOwner(sql: Sql, { owner }: { owner: string }): Promise<void> {
  await runQuery(sql`
    update sessions
    set lease_owner = null, lease_expires_at = null, updated_at = now()
    where lease_owner = ${owner}
  `);
}
