import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { deleteUnusedTitles } from "../sessions/session-titles.ts";
import { withoutSummaryText } from "../turns/summaries.ts";

/**
 * Deletes up to `limit` turns that began more than `days` ago, oldest first, with their blocks, calls, permissions and
 * commentaries. Also deletes ended rooms (with their webhooks), media from messages, and waiting messages of that age,
 * the state of a session whose last turn was deleted, and the titles of participants whose last turn was deleted.
 * Returns the number of deleted turns.
 *
 * While a worker serves a session, and for an hour after its lease has expired, turns that are running or have open
 * calls are kept. The newest turn is kept too, because the next turn's position is derived from it. Other sessions lose
 * all old turns. A model-written summary is removed with the first turn that it covers; the facts stored with it stay.
 * Several workers may run this at the same time.
 */
export async function deleteOldTurns(
  sql: Sql,
  { days, limit }: { readonly days: number; readonly limit: number },
): Promise<number> {
  const deleted = await runQuery(sql<{ session_id: string }[]>`
    delete from turns where id in (
      select id from turns as old
      where created_at < now() - ${days} * interval '1 day' and not exists (
        select from sessions
        where sessions.id = session_id and lease_expires_at > now() - interval '1 hour' and (
          old.state = 'running'
          or position = (select max(position) from turns where session_id = sessions.id)
          or exists (select from tool_calls where turn_id = old.id and tool_calls.state in ('pending', 'running'))
        )
      )
      order by created_at
      limit ${limit}
      for update skip locked
    )
    returning session_id
  `);
  const sessionIds = [...new Set(deleted.map((turn) => turn.session_id))];
  if (sessionIds.length > 0) await deleteSummaries(sql, sessionIds);
  await deleteStates(sql, { days });
  await deleteUnusedTitles(sql);
  await runQuery(sql`delete from media where call_id is null and created_at < now() - ${days} * interval '1 day'`);
  await runQuery(sql`delete from session_rooms where ended_at < now() - ${days} * interval '1 day'`);
  await runQuery(sql`delete from waiting_messages where created_at < now() - ${days} * interval '1 day'`);
  return deleted.length;
}

/**
 * Deletes changes of this age that hooks have made outside of a turn, and the states of sessions without turns that no
 * worker serves.
 */
async function deleteStates(sql: Sql, { days }: { readonly days: number }): Promise<void> {
  const isOld = sql`created_at < now() - ${days} * interval '1 day'`;
  await runQuery(sql`delete from state_changes where turn_id is null and ${isOld}`);
  await runQuery(sql`
    delete from session_states using sessions
    where sessions.id = session_id and ${isOld} and (lease_expires_at is null or lease_expires_at < now())
      and not exists (select from turns where turns.session_id = sessions.id)
      and not exists (select from state_changes where state_changes.session_id = sessions.id)
  `);
}

/** Deletes these sessions' model-written summaries that cover a deleted turn, and all summaries that the API wrote. */
async function deleteSummaries(sql: Sql, sessionIds: readonly string[]): Promise<void> {
  await runQuery(sql`
    update summaries set ${withoutSummaryText(sql)}
    where session_id in ${sql(sessionIds)} and text is not null and not exists (
      select from turns where turns.session_id = summaries.session_id and position = text_from
    )
  `);
  // Only sessions that began before retention was configured contain compaction blocks, because with retention, the API
  // is not asked for summaries. The model is no longer shown these blocks.
  await runQuery(sql`
    delete from turn_blocks using turns
    where turns.id = turn_id and block_type = 'compaction' and session_id in ${sql(sessionIds)}
  `);
}
