import type { StateChange, StateUndo } from "../../conversation/state/state-change.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { type SessionWriter, fencingRow, lostLease } from "./session-writer.ts";

/** A session's state as it is stored. */
export interface StoredState {
  /** `undefined` if the state was never changed. */
  readonly state: JsonObject | undefined;
  /** The number of the session's last change; 0 if there was none. */
  readonly version: number;
}

export async function loadState(sql: Sql, { sessionId }: { readonly sessionId: string }): Promise<StoredState> {
  const [row] = await runQuery(sql<{ state: JsonObject; version: number }[]>`
    select state, version from session_states where session_id = ${sessionId}
  `);
  return row ? { ...row } : { state: undefined, version: 0 };
}

/**
 * Loads what replacing the turns from this position on undoes. A field that several of these turns changed gets the
 * value that it had before the first of these changes.
 */
export async function loadUndo(
  sql: Sql,
  { sessionId, from }: { readonly sessionId: string; readonly from: number },
): Promise<StateUndo> {
  const [row] = await runQuery(sql<StateUndo[]>`
    with changed as (
      select version, field.key as name, field.value as change
      from turns join state_changes on turn_id = turns.id, jsonb_each(fields) as field
      where turns.session_id = ${sessionId} and position >= ${from} and not undone
    ), earliest as (
      select distinct on (name) name, change from changed order by name, version
    )
    select
      coalesce((select jsonb_object_agg(name, change) from earliest), '{}') as fields,
      coalesce((select max(version) from changed), 0) as until
  `);
  return row ? { ...row } : { fields: {}, until: 0 };
}

/** Where a change comes from: the stored call, or the claim itself for a change of a hook. */
type Source = "saved" | "fence";

/**
 * Returns the expressions of a `with` clause that store a change of the state. An earlier expression `saved` or `fence`
 * must select a row, or nothing is stored.
 */
export function changedState({ sql, lease }: SessionWriter, change: StateChange, source: Source) {
  const callId = source === "saved" ? sql`saved.id` : sql`null`;
  return sql`${keptState({ sql, lease }, change, source)}, state_changed as (
    insert into state_changes (session_id, version, turn_id, call_id, fields)
    select ${lease.sessionId}, ${change.version}::int, ${change.turnId}::text, ${callId}, ${sql.json(change.fields)}
    from ${sql(source)}
    on conflict (session_id, version) do nothing
  )`;
}

/**
 * Returns the expressions of a `with` clause that undo the changes of the turns from `replaces` on. An earlier
 * expression `begun` must select a row, or nothing is stored.
 */
export function undoneState({ sql, lease }: SessionWriter, { until, ...kept }: Undone, replaces: string) {
  return sql`${keptState({ sql, lease }, kept, "begun")}, state_undone as (
    update state_changes set undone = true from begun, turns as replaced
    where state_changes.session_id = ${lease.sessionId} and version <= ${until} and not undone
      and replaced.id = turn_id and replaced.position >= (select position from turns where id = ${replaces})
  )`;
}

/** The state after changes were undone. */
export interface Undone extends Pick<StateChange, "version" | "state"> {
  readonly until: number;
}

function keptState(
  { sql, lease }: SessionWriter,
  { version, state }: Pick<StateChange, "version" | "state">,
  source: Source | "begun",
) {
  return sql`state_kept as (
    insert into session_states (session_id, version, state)
    select ${lease.sessionId}, ${version}::int, ${sql.json(state)} from ${sql(source)}
    on conflict (session_id) do update set version = excluded.version, state = excluded.state
  )`;
}

/** Stores a hook's change of the state. @throws {AppError} `lost_lease`, `unavailable` */
export async function storeStateChange(writer: SessionWriter, change: StateChange): Promise<void> {
  const { sql } = writer;
  const rows = await runQuery(sql`
    with fence as materialized (${fencingRow(writer)}), ${changedState(writer, change, "fence")}
    select from fence
  `);
  if (rows.length === 0) throw lostLease();
}
