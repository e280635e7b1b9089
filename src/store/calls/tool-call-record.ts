import { type JsonObject } from "../../lib/json.ts";
import { type Sql } from "../database/pool.ts";

/** An answer that changed nothing, kept on the call. */
export interface ExtraAnswerRecord {
  readonly kind: "late" | "duplicate" | "wrong_participant";
  readonly from: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly success: boolean;
  readonly errorCode: string | null;
}

/** A stored tool call. Times are milliseconds since the epoch. */
export interface ToolCallRecord {
  /** The ToolUseRequest's id. */
  readonly id: string;
  readonly turnId: string;
  readonly toolUseId: string;
  readonly name: string;
  readonly executionAsked: "server" | "client" | "either";
  readonly executionResolved: "server" | "client" | null;
  /** The participant that must answer. */
  readonly addressee: string | null;
  readonly state: "pending" | "running" | "success" | "error" | "cancelled";
  readonly timeoutMs: number;
  readonly deadlineAt: number | null;
  readonly idempotencyKey: string;
  readonly input: JsonObject;
  /** Its turn did not wait for it. */
  readonly isBackground: boolean;
  readonly result: JsonObject | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly logs: readonly string[];
  /** Grows with each change of what is shown of the call. */
  readonly revision: number;
  /** 0 to 1. */
  readonly progress: number | null;
  readonly detail: "full" | "name" | "off";
  /** The arguments that a person put in the place of `input`. */
  readonly editedInput: JsonObject | null;
  /** A person was asked whether it may run, or go on. */
  readonly wasAskedFor: boolean;
  readonly extraAnswers: readonly ExtraAnswerRecord[];
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
}

/** What a `ToolCallRecord` is made of; `turns` may be joined. */
export function callColumns(sql: Sql) {
  return sql`
    tool_calls.id, turn_id as "turnId", tool_use_id as "toolUseId", name,
    execution_asked as "executionAsked", execution_resolved as "executionResolved",
    tool_calls.participant_identity as addressee, tool_calls.state, timeout_ms as "timeoutMs",
    deadline_at as "deadlineAt", idempotency_key as "idempotencyKey", tool_calls.input, is_background as "isBackground", result,
    tool_calls.error_code as "errorCode", tool_calls.error_message as "errorMessage",
    logs, revision, progress, detail, extra_answers as "extraAnswers",
    (select edited_input from permissions where call_id = tool_calls.id and not while_running) as "editedInput",
    exists (select from permissions where call_id = tool_calls.id) as "wasAskedFor",
    tool_calls.created_at as "createdAt", started_at as "startedAt", tool_calls.finished_at as "finishedAt"
  `;
}
