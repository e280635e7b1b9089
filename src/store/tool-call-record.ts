import { type JsonObject } from "../lib/json.ts";

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
  readonly result: JsonObject | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly logs: readonly string[];
  readonly extraAnswers: readonly ExtraAnswerRecord[];
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
}
