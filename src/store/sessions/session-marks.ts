import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

/** Loads a mark for each session, in one statement. A mark is a string that changes whenever the session changes. */
export type LoadMarks = (
  sql: Sql,
  options: { readonly sessionIds: readonly string[] },
) => Promise<ReadonlyMap<string, string>>;

interface MarkRow {
  readonly id: string;
  readonly mark: string;
}

/**
 * Loads marks for followers that wait for answers to permission requests. The marks cover open requests and their
 * expiry.
 */
export const loadRequestMarks: LoadMarks = async (sql, { sessionIds }) => {
  return toMap(
    await runQuery(sql<MarkRow[]>`
      select followed.id,
        coalesce(string_agg(permissions.id || permissions.expires_at, ' ' order by permissions.id), '') as mark
      from json_array_elements_text(${JSON.stringify(sessionIds)}::text::json) as followed (id)
      left join permissions on session_id = followed.id and state = 'asked'
      group by followed.id
    `),
  );
};

/**
 * Loads marks for followers of the whole session. The marks cover the last turn with its blocks and calls, and all open
 * calls and requests.
 */
export const loadSessionMarks: LoadMarks = async (sql, { sessionIds }) => {
  return toMap(
    await runQuery(sql<MarkRow[]>`
      with followed as (
        select id from json_array_elements_text(${JSON.stringify(sessionIds)}::text::json) as followed (id)
      ), open_calls as (
        -- A subquery, because a join would read all turns: there are more of them than open calls.
        select (select session_id from turns where turns.id = turn_id) as session_id,
          string_agg(id || revision, ' ' order by id) as mark
        from tool_calls where state in ('pending', 'running')
        group by 1
      )
      select followed.id, concat_ws(
        '/', last.position, last.state, last.spoken_at is not null,
        coalesce((select max(sequence) from turn_blocks where turn_id = last.id), -1),
        (select coalesce(sum(revision), 0) from tool_calls where turn_id = last.id),
        coalesce(open_calls.mark, ''),
        (select string_agg(id || expires_at, ' ' order by id) from permissions where session_id = followed.id and state = 'asked')
      ) as mark
      from followed
      left join lateral (
        select id, position, state, spoken_at from turns where session_id = followed.id order by position desc limit 1
      ) as last on true
      left join open_calls on open_calls.session_id = followed.id
    `),
  );
};

function toMap(rows: readonly MarkRow[]): ReadonlyMap<string, string> {
  return new Map(rows.map(({ id, mark }) => [id, mark]));
}
