import { type JsonObject } from "../../lib/json.ts";
import { jsonParameter } from "../database/json-parameter.ts";
import { heldRow, lostLease, type SessionWriter } from "../sessions/session-writer.ts";
import { runQuery } from "../database/store-error.ts";

export interface ToolCallEnd {
  readonly callId: string;
  readonly state: "success" | "error" | "cancelled";
  /** Beside an error: a partial result or a diagnosis. */
  readonly result?: JsonObject | undefined;
  readonly errorCode?: string | undefined;
  readonly errorMessage?: string | undefined;
  /** @defaultValue now */
  readonly finishedAt?: number | undefined;
  /** @defaultValue one more than what is stored */
  readonly revision?: number | undefined;
}

/**
 * Ends an open call; the first end wins. Nobody is asked about it any more, for an answer would change nothing.
 * `false`: it had ended before (or is unknown), and nothing has changed.
 */
export async function settleToolCall(writer: SessionWriter, end: ToolCallEnd): Promise<boolean> {
  const { sql } = writer;
  const rows = await runQuery(sql<{ id: string | null }[]>`
    with held as materialized (${heldRow(writer)}), settled as (
      update tool_calls
      set state = ${end.state},
        result = ${jsonParameter(sql, end.result)},
        error_code = ${end.errorCode ?? null},
        error_message = ${end.errorMessage ?? null},
        finished_at = coalesce(${end.finishedAt === undefined ? null : sql.types.timestamp(end.finishedAt)}, now()),
        revision = coalesce(${end.revision ?? null}, revision + 1)
      from held
      where id = ${end.callId} and state in ('pending', 'running')
      returning id
    ), withdrawn as (
      update permissions
      set state = case when expires_at > now() then 'withdrawn' else 'expired' end, replied_at = now()
      from settled
      where call_id = settled.id and permissions.state = 'asked'
    )
    select id from held left join settled on true
  `);
  if (rows.length === 0) throw lostLease();
  return rows[0]?.id !== null;
}
