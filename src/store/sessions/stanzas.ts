import { runQuery } from "../database/store-error.ts";
import { type SessionWriter, lostLease } from "./session-writer.ts";

/**
 * Sets `count` stanza numbers of the worker aside, for good, and returns the first: a worker that is killed leaves a
 * gap but no number is used twice. Positive; the wire carries them negated.
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

/** At a clean end: numbers above `last` were reserved and not used, so a client that saw `last` has missed nothing. */
export async function trimStanzas({ sql, lease }: SessionWriter, { last }: { last: number }): Promise<void> {
  const { sessionId, epoch } = lease;
  await runQuery(sql`
    update sessions set worker_stanza_reserved = least(worker_stanza_reserved, ${last}), updated_at = now()
    where id = ${sessionId} and epoch = ${epoch}
  `);
}
