import type { CallState, StateDetail } from "../../conversation/call.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import type { PermissionRecord } from "../permissions/load-permissions.ts";

/** A stored call, with the data for generating a test. */
export interface StoredCall {
  readonly position: number;
  readonly toolUseId: string;
  readonly name: string;
  readonly timeoutMs: number;
  readonly input: JsonObject;
  readonly state: CallState;
  /** How much of the call may be shown. */
  readonly detail: StateDetail;
  readonly ranOn: "server" | "client" | null;
  readonly result: JsonObject | null;
  /** How long the call ran; `null` if it did not run. */
  readonly tookMs: number | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  /** Whether the call was answered more than once. */
  readonly isDoubled: boolean;
  readonly permission: Pick<PermissionRecord, "state" | "isAlways" | "message" | "editedInput"> | null;
}

interface Range {
  readonly sessionId: string;
  /** Only loads turns before this position. @defaultValue all */
  readonly before?: number;
}

const END = 2 ** 31 - 1;

/**
 * Loads the calls in the session's history, in the order of the model's tool uses. Leaves out forms that running calls
 * requested.
 */
export async function loadRecordedCalls(sql: Sql, { sessionId, before = END }: Range): Promise<readonly StoredCall[]> {
  return await runQuery(sql<StoredCall[]>`
    select
      position, tool_use_id as "toolUseId", name, timeout_ms as "timeoutMs", tool_calls.input, tool_calls.state, detail,
      execution_resolved as "ranOn", result,
      round(extract(epoch from tool_calls.finished_at - tool_calls.started_at) * 1000)::int as "tookMs",
      tool_calls.error_code as "errorCode", tool_calls.error_message as "errorMessage",
      extra_answers @> '[{"kind": "duplicate"}]' as "isDoubled",
      (
        select json_build_object(
          'state', state, 'isAlways', is_always, 'message', message, 'editedInput', edited_input
        )
        from permissions where call_id = tool_calls.id order by created_at limit 1
      ) as permission
    from tool_calls
    join turns on turns.id = tool_calls.turn_id
    left join turn_blocks on turn_blocks.turn_id = turns.id
      and block_type = 'tool_use' and content ->> 'tool_use_id' = tool_use_id
    where turns.session_id = ${sessionId} and superseded_by is null and position < ${before}
      and tool_use_id not like 'form:%'
    order by position, sequence, tool_calls.created_at
  `);
}

/**
 * Loads when each block was stored, keyed by the turn's position: milliseconds since the turn began, in block order.
 */
export async function loadBlockTimes(
  sql: Sql,
  { sessionId, before = END }: Range,
): Promise<ReadonlyMap<number, readonly number[]>> {
  const rows = await runQuery(sql<{ position: number; times: number[] }[]>`
    select
      position,
      json_agg(round(extract(epoch from turn_blocks.created_at - turns.created_at) * 1000) order by sequence) as times
    from turn_blocks
    join turns on turns.id = turn_blocks.turn_id
    where turns.session_id = ${sessionId} and superseded_by is null and position < ${before}
    group by position
  `);
  return new Map(rows.map(({ position, times }) => [position, times]));
}
