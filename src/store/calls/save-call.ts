import { type Call } from "../../conversation/call.ts";
import { jsonParameter } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { heldRow, lostLease, type SessionWriter } from "../sessions/session-writer.ts";

/**
 * Stores a call as it is now. What is stored already is replaced while it is open, and by a newer revision only: the
 * first end wins, and storing it again changes nothing. When it ends nobody is asked about it any more, for an answer
 * would change nothing. A call that has not been started is stored before anything of it may run.
 *
 * @throws {AppError} `lost_lease`; `internal` for another call of the same tool use
 */
export async function saveCall({ sql, lease }: SessionWriter, call: Call): Promise<void> {
  const { outcome } = call;
  const failure = outcome && "errorCode" in outcome ? outcome : undefined;
  const time = (at: number | undefined) => (at === undefined ? null : sql.types.timestamp(at));
  const rows = await runQuery(sql`
    with held as materialized (${heldRow({ sql, lease })}), saved as (
      insert into tool_calls (
        id, turn_id, tool_use_id, name, execution_asked, timeout_ms, idempotency_key, input, detail, state,
        execution_resolved, participant_identity, started_at, deadline_at, is_background, logs, progress,
        result, error_code, error_message, finished_at, revision
      ) select
        ${call.id}, ${call.turnId}, ${call.toolUseId}, ${call.toolName}, ${call.executionAsked}, ${call.timeoutMs},
        ${call.idempotencyKey}, ${sql.json(call.input)}, ${call.detail}, ${call.state},
        ${call.executionResolved ?? null}, ${call.addressee ?? null}, ${time(call.startedAt)}::timestamptz,
        ${time(call.deadlineAt)}::timestamptz, ${call.isBackground}, ${sql.json(call.logs)}, ${call.progress ?? null}::real,
        ${jsonParameter(sql, outcome?.result)}::jsonb, ${failure?.errorCode ?? null}, ${failure?.errorMessage ?? null},
        ${time(call.finishedAt)}::timestamptz, ${call.revision}
      from held
      on conflict (id) do update set
        state = excluded.state,
        execution_resolved = excluded.execution_resolved,
        participant_identity = excluded.participant_identity,
        started_at = coalesce(tool_calls.started_at, excluded.started_at),
        deadline_at = excluded.deadline_at,
        is_background = excluded.is_background,
        logs = excluded.logs,
        progress = excluded.progress,
        result = excluded.result,
        error_code = excluded.error_code,
        error_message = excluded.error_message,
        finished_at = excluded.finished_at,
        revision = excluded.revision
      where tool_calls.state in ('pending', 'running') and tool_calls.revision < excluded.revision
      returning id, state
    ), withdrawn as (
      update permissions
      set state = case when expires_at > now() then 'withdrawn' else 'expired' end, replied_at = now()
      from saved
      where saved.state not in ('pending', 'running') and call_id = saved.id and permissions.state = 'asked'
    )
    select from held
  `);
  if (rows.length === 0) throw lostLease();
}
