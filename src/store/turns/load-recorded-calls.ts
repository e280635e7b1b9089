import type { CallState, StateDetail } from "../../conversation/call.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import type { PermissionRecord } from "../permissions/load-permissions.ts";

/** A stored call, with what a test is made from. */
export interface StoredCall {
  readonly position: number;
  readonly toolUseId: string;
  readonly name: string;
  readonly timeoutMs: number;
  readonly input: JsonObject;
  readonly state: CallState;
  /** How much of it may be shown. */
  readonly detail: StateDetail;
  readonly ranOn: "server" | "client" | null;
  readonly result: JsonObject | null;
  /** The time that it ran; null when it did not run. */
  readonly tookMs: number | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  /** Whether it was answered twice. */
  readonly isDoubled: boolean;
  readonly permission: Pick<PermissionRecord, "state" | "isAlways" | "message" | "editedInput"> | null;
}

interface Range {
  readonly sessionId: string;
  /** Only calls of turns before this position. @defaultValue all */
  readonly before?: number;
}

const END = 2 ** 31 - 1;

/** The calls of the session's history in the model's order, without forms that running calls asked for. */
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
 * When each block was stored, by its turn's position: milliseconds since the turn began, in the order of the blocks.
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
