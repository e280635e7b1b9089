import { type SessionWriter } from "./session-writer.ts";
import { runQuery } from "../database/store-error.ts";

/** `false`: another worker has claimed the session, or this one has given it up. One that ran out and that nobody took is renewed. */
export async function renewLease({ sql, lease }: SessionWriter, { leaseMs }: { leaseMs: number }): Promise<boolean> {
  const { sessionId, epoch } = lease;
  const result = await runQuery(sql`
    update sessions
    set lease_expires_at = now() + ${leaseMs} * interval '1 millisecond', updated_at = now()
    where id = ${sessionId} and epoch = ${epoch} and lease_owner is not null
  `);
  return result.count > 0;
}
