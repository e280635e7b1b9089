import { type Sql } from "./pool.ts";
import { runQuery } from "./store-error.ts";

/** At a clean end: numbers above `last` were reserved and not used, so a client that saw `last` has missed nothing. */
export async function trimStanzas(sql: Sql, { sessionId, last }: { sessionId: string; last: number }): Promise<void> {
  await runQuery(sql`
    update sessions set worker_stanza_reserved = least(worker_stanza_reserved, ${last}), updated_at = now()
    where id = ${sessionId}
  `);
}
