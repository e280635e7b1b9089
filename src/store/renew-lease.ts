import { type Sql } from "./pool.ts";
import { runQuery } from "./store-error.ts";

export interface Lease {
  readonly sessionId: string;
  readonly owner: string;
  readonly leaseMs: number;
}

/** `false`: another owner has the session, or nobody; stop working on it. An expired lease that nobody took is renewed. */
export async function renewLease(sql: Sql, { sessionId, owner, leaseMs }: Lease): Promise<boolean> {
  const result = await runQuery(sql`
    update sessions
    set lease_expires_at = now() + ${leaseMs} * interval '1 millisecond', updated_at = now()
    where id = ${sessionId} and lease_owner = ${owner}
  `);
  return result.count > 0;
}
