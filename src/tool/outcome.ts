import { type CallErrorCode, type Failure, type Outcome } from "../conversation/call.ts";
import { cleanText } from "../lib/clean-json.ts";
import { isRecord, type JsonObject, type JsonValue } from "../lib/json.ts";
import { truncateText } from "../lib/truncate-text.ts";
import { LIMITS } from "../protocol/limits.ts";

const MAX_CODE_LENGTH = 256;

/** What the model reads in the tool_result block. */
export interface ModelAnswer {
  readonly content: string;
  readonly isError: boolean;
}

export function success(result: JsonObject): Outcome {
  return { state: "success", result };
}

/** `cancelled` is for what the participant, or its client, has aborted, and for nothing else. */
export function failure(errorCode: CallErrorCode, errorMessage: string): Failure {
  return { state: errorCode === "cancelled" ? "cancelled" : "error", errorCode, errorMessage };
}

/** What a failure says of itself, fit to be stored; never throws, whatever was thrown. */
export function messageOf(error: unknown): string {
  try {
    return cleanText(String(error instanceof Error ? error.message : error)) || "The tool failed without a message";
  } catch {
    return "The tool failed without a message";
  }
}

/** A failure may be told in anybody's words; nobody needs more of them than this. */
export function withShortError(outcome: Outcome): Outcome {
  if (outcome.state === "success") return outcome;
  const { errorCode, errorMessage } = outcome;
  const maxBytes = LIMITS.shortTextBytes;
  return {
    ...outcome,
    errorCode: errorCode.slice(0, MAX_CODE_LENGTH).toWellFormed(),
    errorMessage: truncateText(errorMessage, maxBytes),
  };
}

/** The worker's own timeout; clients know the words. */
export function timedOut(timeoutMs: number): Outcome {
  return failure("timeout", `Tool execution exceeded timeout of ${timeoutMs}ms`);
}

/** A result that is not a map is wrapped as `{value}`; nothing is `{}`. */
export function toResultMap(value: JsonValue | undefined): JsonObject {
  if (value === undefined || value === null) return {};
  return isRecord(value) ? (value as JsonObject) : { value };
}

/** The outcome in the model's words, at most `maxBytes` long with a visible mark where it was cut. */
export function toModelAnswer(outcome: Outcome, limits: { timeoutMs: number; maxBytes: number }): ModelAnswer {
  if (outcome.state === "success") {
    return { content: truncateText(resultText(outcome.result), limits.maxBytes), isError: false };
  }
  const message =
    outcome.errorCode === "timeout"
      ? `Tool execution timed out after ${limits.timeoutMs / 1000}s`
      : outcome.errorMessage || outcome.errorCode;
  const partial =
    outcome.result && Object.keys(outcome.result).length > 0 ? `\nPartial result: ${resultText(outcome.result)}` : "";
  return { content: truncateText(message + partial, limits.maxBytes), isError: true };
}

/** A result as text: a wrapped text as it is, anything else as JSON. */
export function resultText(result: JsonObject): string {
  const isWrapped = Object.keys(result).length === 1 && "value" in result;
  const value = isWrapped ? result["value"] : result;
  return typeof value === "string" ? value : JSON.stringify(value);
}
