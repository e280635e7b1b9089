import { runQuery } from "../database/store-error.ts";
import { type SessionWriter, lostLease } from "./session-writer.ts";

/**
 * Reserves `count` stanza numbers for the worker and returns the first one. A worker that is killed leaves a gap, but
 * no number is used twice. The numbers are positive here and negative on the wire.
 *
 * @throws {AppError} `lost_lease`
 */
export async function reserveStanzas({ sql, lease }: SessionWriter, { count }: { count: number }): Promise<number> {
  const { sessionId, epoch } = lease;
  const rows = await runQuery(sql<{ reserved: string }[]>`
    update sessions
    set worker_stanza_reserved = worker_stanza_reserved + ${count}, updated_at = now()
    where id = ${sessionId} and epoch = ${epoch}
    returning worker_stanza_reserved as reserved
  `);
  if (!rows[0]) throw lostLease();
  return Number(rows[0].reserved) - count + 1;
}

/**
 * Releases the unused numbers above `last` on a clean shutdown. Because this leaves no gap, a client that received
 * `last` can tell that it has missed nothing.
 */
export async function trimStanzas({ sql, lease }: SessionWriter, { last }: { last: number }): Promise<void> {
  const { sessionId, epoch } = lease;
  await runQuery(sql`
    update sessions set worker_stanza_reserved = least(worker_stanza_reserved, ${last}), updated_at = now()
    where id = ${sessionId} and epoch = ${epoch}
  `);
}
