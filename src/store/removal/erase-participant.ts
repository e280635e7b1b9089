import type postgres from "postgres";
import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { deleteMemories } from "../memory/memories.ts";
import { eraseSpending } from "../spending/spending.ts";
import { withoutSummaryText } from "../turns/summaries.ts";

interface Identity {
  readonly identity: string;
}

/** The number of removed rows, by kind of data. */
export interface Erased {
  /** The person's own turns, with all answers, calls and permissions in them. */
  readonly turns: number;
  /** Results of tools that ran on the person's device in other participants' turns. */
  readonly deviceResults: number;
  /** Permissions that the person was asked for, or answered, in other participants' turns. */
  readonly permissions: number;
  readonly grants: number;
  /** Commentaries on messages in other participants' turns. */
  readonly notes: number;
  readonly waitingMessages: number;
  /** Webhooks, delivered or not, about rooms in which the person had a turn. */
  readonly webhooks: number;
  readonly memories: number;
  /**
   * Totals of the cost of model calls for the person. Today's total is kept without the name until the end of the day.
   */
  readonly spending: number;
}

/** The number of rows to delete at a time, small enough that a batch does not block other writers. */
const BATCH = 100;

/**
 * Finds a room whose session is being served and in which the person had a turn, is waiting for an answer, or ran a
 * tool. The room's worker holds this data in memory and may store it again. Returns "" for a session without a room.
 */
export async function findServedRoom(sql: Sql, { identity }: Identity): Promise<string | undefined> {
  const [row] = await runQuery(sql<{ room: string | null }[]>`
    select room from sessions
    where lease_owner is not null and lease_expires_at > now() and (
      exists (select from turns where session_id = sessions.id and turns.participant_identity = ${identity})
      or exists (select from waiting_messages where session_id = sessions.id and waiting_messages.participant_identity = ${identity})
      or exists (select from tool_calls where in_session = sessions.id and tool_calls.participant_identity = ${identity})
    )
    limit 1
  `);
  return row && (row.room ?? "");
}

/**
 * Removes all stored data about a person, in small steps. If a step fails, what the earlier steps removed stays
 * removed.
 */
export async function eraseParticipant(sql: Sql, { identity }: Identity): Promise<Erased> {
  const webhooks = await eraseRooms(sql, { identity });
  // Selects turns whose input contains a message of the person. In some of them, another participant has regenerated
  // the answer to that message.
  const isSaidBy = sql`input @> ${sql.json([{ from: identity }])}`;
  const affectedSessions = sql`(
    select session_id from turns where participant_identity = ${identity} or ${isSaidBy}
    union select in_session from tool_calls where participant_identity = ${identity}
  )`;
  await eraseSummaries(sql, { identity }, affectedSessions);
  await eraseStates(sql, affectedSessions);
  let turns = 0;
  for (const isOf of [sql`participant_identity = ${identity}`, isSaidBy]) {
    turns += await inBatches(async () => {
      const { count } = await runQuery(sql`
        delete from turns where id in (select id from turns where ${isOf} limit ${BATCH})
      `);
      return count;
    });
  }
  await runQuery(sql`delete from media where participant_identity = ${identity}`);
  const deviceResults = await inBatches(() => eraseDeviceResults(sql, { identity }));
  // Other participants' turns may have announced the person's tools to the model. If these tools are still offered,
  // they are announced again.
  await runQuery(sql`
    update turns set context = context - 'tools'
    where context -> 'tools' @> ${sql.json([{ added: [{ owner: identity }] }])}
  `);
  const remove = async (query: ReturnType<Sql>) => (await runQuery(query)).count;
  const permissions = await remove(
    sql`delete from permissions where participant_identity = ${identity} or replied_by = ${identity}`,
  );
  const grants = await remove(sql`delete from permission_grants where participant_identity = ${identity}`);
  const notes = await remove(sql`delete from commentaries where participant_identity = ${identity}`);
  const waitingMessages = await remove(sql`delete from waiting_messages where participant_identity = ${identity}`);
  await remove(sql`delete from session_titles where participant_identity = ${identity}`);
  const memories = await deleteMemories(sql, { identity });
  const spending = await eraseSpending(sql, { identity });
  await remove(sql`update sessions set participant_identity = null where participant_identity = ${identity}`);
  await remove(sql`
    update sessions set languages = languages - ${identity}::text where jsonb_exists(languages, ${identity})
  `);
  return { turns, deviceResults, permissions, grants, notes, waitingMessages, webhooks, memories, spending };
}

/**
 * Removes the rooms in which the person had a turn, with their webhooks. Call this while those turns are still stored.
 */
async function eraseRooms(sql: Sql, { identity }: Identity): Promise<number> {
  const [row] = await runQuery(sql<{ count: number }[]>`
    with gone as (
      delete from session_rooms where exists (
        select from turns
        where turns.session_id = session_rooms.session_id and participant_identity = ${identity}
          and position > after_position and (ended_at is null or position <= last_position)
      )
      returning session_id, room_sid
    )
    select count(*)::int as count from webhooks join gone using (session_id, room_sid)
  `);
  return row?.count ?? 0;
}

/**
 * Removes the summaries of the person's sessions, which contain everybody's words and results from devices. New
 * summaries are written from the remaining turns.
 *
 * @param affectedSessions selects the ids of these sessions
 */
async function eraseSummaries(sql: Sql, { identity }: Identity, affectedSessions: postgres.Fragment): Promise<void> {
  await runQuery(sql`
    update summaries set ${withoutSummaryText(sql)},
      people = jsonb_path_query_array(people, '$[*] ? (@.identity != $identity)', ${sql.json({ identity })}),
      promises = jsonb_path_query_array(promises, '$[*] ? (@.participant != $identity)', ${sql.json({ identity })})
    where people @> ${sql.json([{ identity }])} or session_id in ${affectedSessions}
  `);
  // The API's own summaries are removed as well. Without them, the measured token count is no longer correct.
  await runQuery(sql`
    with compacted as (
      delete from turn_blocks using turns
      where turns.id = turn_id and block_type = 'compaction' and session_id in ${affectedSessions}
      returning session_id
    )
    update turns set context = context - 'measured' where session_id in (select session_id from compacted)
  `);
}

/** Removes the states of the person's sessions, which may contain what anybody has said. */
async function eraseStates(sql: Sql, affectedSessions: postgres.Fragment): Promise<void> {
  await runQuery(sql`delete from session_states where session_id in ${affectedSessions}`);
  await runQuery(sql`delete from state_changes where session_id in ${affectedSessions}`);
}

/**
 * Removes up to `BATCH` results of tools that ran on the person's device. Deletes their blocks instead of editing them,
 * because stored blocks never change. The model then reads that the outcome is unknown.
 */
async function eraseDeviceResults(sql: Sql, { identity }: Identity): Promise<number> {
  const calls = await runQuery(sql<{ turn_id: string; tool_use_id: string }[]>`
    update tool_calls
    set participant_identity = null, result = null, shown = null, display = null, error_message = null, logs = '[]', extra_answers = '[]'
    where id in (select id from tool_calls where participant_identity = ${identity} limit ${BATCH})
    returning turn_id, tool_use_id
  `);
  for (const { turn_id: turnId, tool_use_id: useId } of calls) {
    await runQuery(sql`
      delete from turn_blocks
      where turn_id = ${turnId} and block_type = 'tool_result' and content ->> 'tool_use_id' = ${useId}
    `);
    await runQuery(sql`
      update turns set words = turn_words(id, heard) where id = ${turnId} and state <> 'running'
    `);
  }
  return calls.length;
}

async function inBatches(remove: () => Promise<number>): Promise<number> {
  for (let total = 0; ;) {
    const count = await remove();
    total += count;
    if (count < BATCH) return total;
  }
}
