import { type Sql } from "./pool.ts";
import { runQuery } from "./store-error.ts";
import { type ToolCallRecord } from "./tool-call-record.ts";

/** A turn's calls, in the order in which they were asked for. */
export async function loadToolCalls(sql: Sql, { turnId }: { turnId: string }): Promise<ToolCallRecord[]> {
  return await runQuery(sql<ToolCallRecord[]>`
    select
      id, turn_id as "turnId", tool_use_id as "toolUseId", name,
      execution_asked as "executionAsked", execution_resolved as "executionResolved",
      participant_identity as addressee, state, timeout_ms as "timeoutMs", deadline_at as "deadlineAt",
      idempotency_key as "idempotencyKey", input, result, error_code as "errorCode", error_message as "errorMessage",
      logs, extra_answers as "extraAnswers",
      created_at as "createdAt", started_at as "startedAt", finished_at as "finishedAt"
    from tool_calls
    where turn_id = ${turnId}
    order by created_at, id
  `);
}
