import { AppError } from "../errors/app-error.ts";
import { type Sql } from "./pool.ts";
import { runQuery } from "./store-error.ts";

/**
 * Sets `count` stanza numbers of the worker aside, for good, and returns the first: a worker that is killed leaves a
 * gap but no number is used twice. Positive; the wire carries them negated.
 *
 * @throws {AppError} `conversation_not_found`
 */
export async function reserveStanzas(
  sql: Sql,
  { sessionId, count }: { sessionId: string; count: number },
): Promise<number> {
  const rows = await runQuery(sql<{ reserved: string }[]>`
    update sessions
    set worker_stanza_reserved = worker_stanza_reserved + ${count}, updated_at = now()
    where id = ${sessionId}
    returning worker_stanza_reserved as reserved
  `);
  if (!rows[0]) throw new AppError("conversation_not_found", `There is no session "${sessionId}"`);
  return Number(rows[0].reserved) - count + 1;
}
