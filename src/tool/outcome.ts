import type { CallErrorCode, Failure, Outcome } from "../conversation/call.ts";
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

/** `cancelled` is only for calls that the participant or its client aborted. */
export function failure(errorCode: CallErrorCode, errorMessage: string): Failure {
  return { state: errorCode === "cancelled" ? "cancelled" : "error", errorCode, errorMessage };
}

/** The message of a thrown value, fit to be stored; never throws. */
export function messageOf(error: unknown): string {
  try {
    return cleanText(String(error instanceof Error ? error.message : error)) || "The tool failed without a message";
  } catch {
    return "The tool failed without a message";
  }
}

/** Cuts the code and the message of a failure, which a client or a tool may have made as long as it likes. */
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

/** The worker's own timeout. Clients may rely on the text (spec/001). */
export function timedOut(timeoutMs: number): Outcome {
  return failure("timeout", `Tool execution exceeded timeout of ${timeoutMs}ms`);
}

/** A tool's value as a map: `undefined` and `null` become `{}`, what is not a map becomes `{value}`. */
export function toResultMap(value: JsonValue | undefined): JsonObject {
  if (value === undefined || value === null) return {};
  return isRecord(value) ? (value as JsonObject) : { value };
}

/** The outcome in words for the model, cut to `maxBytes` with a mark at the cut. */
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

/** The result as text: `{value: "text"}` is that text, anything else is JSON. */
export function resultText(result: JsonObject): string {
  const isWrapped = Object.keys(result).length === 1 && "value" in result;
  const value = isWrapped ? result["value"] : result;
  return typeof value === "string" ? value : JSON.stringify(value);
}
