import { type SessionWriter } from "../sessions/session-writer.ts";
import { runQuery } from "../database/store-error.ts";

/** At a clean end: numbers above `last` were reserved and not used, so a client that saw `last` has missed nothing. */
export async function trimStanzas({ sql, lease }: SessionWriter, { last }: { last: number }): Promise<void> {
  const { sessionId, epoch } = lease;
  await runQuery(sql`
    update sessions set worker_stanza_reserved = least(worker_stanza_reserved, ${last}), updated_at = now()
    where id = ${sessionId} and epoch = ${epoch}
  `);
}
