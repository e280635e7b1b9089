import { writeHeld, type SessionWriter } from "../sessions/session-writer.ts";
import { runQuery } from "../database/store-error.ts";
import { type ToolCallRecord } from "./tool-call-record.ts";

export type NewToolCall = Pick<
  ToolCallRecord,
  "id" | "turnId" | "toolUseId" | "name" | "executionAsked" | "timeoutMs" | "idempotencyKey" | "input" | "detail"
> &
  Partial<Pick<ToolCallRecord, "isBackground">>;

/**
 * Stores a pending call: nothing may run before this resolves. `false`: this tool use has a call with another id. The
 * same call again (the answer was lost) changes nothing and is `true`.
 */
export async function insertToolCall(writer: SessionWriter, call: NewToolCall): Promise<boolean> {
  const { sql } = writer;
  const statement = sql`
    insert into tool_calls (
      id, turn_id, tool_use_id, name, execution_asked, timeout_ms, idempotency_key, input, detail, is_background,
      revision
    ) select
      ${call.id}, ${call.turnId}, ${call.toolUseId}, ${call.name}, ${call.executionAsked}, ${call.timeoutMs},
      ${call.idempotencyKey}, ${sql.json(call.input)}, ${call.detail}, ${call.isBackground ?? false}, 1
    from held
    on conflict do nothing
    returning id
  `;
  if ((await writeHeld(writer, statement)).length > 0) return true;
  const existing = await runQuery(sql`
    select 1 from tool_calls where id = ${call.id} and turn_id = ${call.turnId} and tool_use_id = ${call.toolUseId}
  `);
  return existing.length > 0;
}
