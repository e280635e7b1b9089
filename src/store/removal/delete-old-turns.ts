import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

/**
 * Deletes turns that began more than so many days ago, with their blocks, calls, permissions and notes, the oldest
 * first and at most `limit`; and what tells of sessions that ended then, with webhooks. Returns how many turns there
 * were. A session that is served keeps its newest turn: the next one gets its position by that. Several workers may do
 * this at once.
 */
export async function deleteOldTurns(
  sql: Sql,
  { days, limit }: { readonly days: number; readonly limit: number },
): Promise<number> {
  const { count } = await runQuery(sql`
    delete from turns where id in (
      select id from turns as old
      where created_at < now() - ${days} * interval '1 day' and state <> 'running' and not exists (
        select from sessions
        where sessions.id = session_id and lease_owner is not null
          and position = (select max(position) from turns where session_id = sessions.id)
      )
      order by created_at
      limit ${limit}
      for update skip locked
    )
  `);
  await runQuery(sql`delete from media where call_id is null and created_at < now() - ${days} * interval '1 day'`);
  await runQuery(sql`delete from session_rooms where ended_at < now() - ${days} * interval '1 day'`);
  await runQuery(sql`delete from waiting_messages where created_at < now() - ${days} * interval '1 day'`);
  return count;
}
