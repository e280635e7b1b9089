import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

/**
 * Deletes turns that began more than `days` ago, the oldest first and at most `limit`, with their blocks, calls,
 * permissions and notes; also the session ends (with webhooks), media and waiting messages of that time. Returns the
 * number of turns. A session that is served keeps what still runs, and its newest turn, from which the next one gets
 * its position. A session whose worker has been gone for an hour keeps nothing. Several workers may do this at once.
 */
export async function deleteOldTurns(
  sql: Sql,
  { days, limit }: { readonly days: number; readonly limit: number },
): Promise<number> {
  const { count } = await runQuery(sql`
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
  `);
  await runQuery(sql`delete from media where call_id is null and created_at < now() - ${days} * interval '1 day'`);
  await runQuery(sql`delete from session_rooms where ended_at < now() - ${days} * interval '1 day'`);
  await runQuery(sql`delete from waiting_messages where created_at < now() - ${days} * interval '1 day'`);
  return count;
}
