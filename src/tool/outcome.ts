import type { Call, CallErrorCode, Failure, Outcome } from "../conversation/call.ts";
import { asBlocks, type ContentBlock } from "../conversation/content.ts";
import { cleanText } from "../lib/clean-json.ts";
import { asText, isRecord, type JsonObject, type JsonValue } from "../lib/json.ts";
import { truncateText } from "../lib/truncate-text.ts";
import { LIMITS } from "../protocol/limits.ts";

const MAX_CODE_LENGTH = 256;

/** What the model reads in the tool_result block. */
export interface ModelAnswer {
  readonly content: string | readonly ContentBlock[];
  readonly isError: boolean;
}

export function success(result: JsonObject): Outcome {
  return { state: "success", result };
}

/** Returns a failed outcome. The code `cancelled` is only for calls that the participant or its client aborted. */
export function failure(errorCode: CallErrorCode, errorMessage: string): Failure {
  return { state: errorCode === "cancelled" ? "cancelled" : "error", errorCode, errorMessage };
}

/** Returns the message of a thrown value, safe to store. Never throws. */
export function messageOf(error: unknown): string {
  try {
    return cleanText(String(error instanceof Error ? error.message : error)) || "The tool failed without a message";
  } catch {
    return "The tool failed without a message";
  }
}

/** Shortens the code and message of a failure. A client or a tool may have sent strings of any length. */
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

/** Returns the worker's own timeout failure. Clients may rely on the text (spec/001). */
export function timedOut(timeoutMs: number): Outcome {
  return failure("timeout", `Tool execution exceeded timeout of ${timeoutMs}ms`);
}

/** Returns a tool's value as an object: `undefined` and `null` become `{}`, other non-objects become `{value}`. */
export function toResultMap(value: JsonValue | undefined): JsonObject {
  if (value === undefined || value === null) return {};
  return isRecord(value) ? (value as JsonObject) : { value };
}

/** Returns the outcome as the model reads it. Text is cut to `maxBytes`, with a marker at the cut. */
export function toModelAnswer(outcome: Outcome, limits: { timeoutMs: number; maxBytes: number }): ModelAnswer {
  if (outcome.state === "success") {
    const { result, content } = outcome;
    if (content) return { content: withShortTexts(content, limits.maxBytes), isError: false };
    return { content: truncateText(resultText(result), limits.maxBytes), isError: false };
  }
  const message =
    outcome.errorCode === "timeout"
      ? `Tool execution timed out after ${limits.timeoutMs / 1000}s`
      : outcome.errorMessage || outcome.errorCode;
  const partial =
    outcome.result && Object.keys(outcome.result).length > 0 ? `\nPartial result: ${resultText(outcome.result)}` : "";
  return { content: truncateText(message + partial, limits.maxBytes), isError: true };
}

/** Limits the text in all blocks together to `maxBytes`, with a marker where text was cut. */
function withShortTexts(blocks: readonly ContentBlock[], maxBytes: number): ContentBlock[] {
  let left = maxBytes;
  const cut = (value: unknown): string => {
    const whole = asText(value);
    const short = truncateText(whole, left);
    left = Math.max(0, left - Buffer.byteLength(whole));
    return short;
  };
  const shorten = (block: ContentBlock): ContentBlock => {
    const { type, text, source, content } = block;
    if (type === "text") return { ...block, text: cut(text) };
    if (type === "search_result") return { ...block, content: (asBlocks(content) ?? []).map(shorten) };
    if (type !== "document" || !isRecord(source) || source["type"] !== "text") return block;
    return { ...block, source: { ...(source as JsonObject), data: cut(source["data"]) } };
  };
  return blocks.map(shorten);
}

/** Returns the result as text: a lone `value` is unwrapped, a string stays as it is, and anything else becomes JSON. */
export function resultText(result: JsonObject): string {
  const isWrapped = Object.keys(result).length === 1 && "value" in result;
  const value = isWrapped ? result["value"] : result;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns the outcome as the model reads it, with a note if the participant changed the arguments. */
export function toCallAnswer({ timeoutMs, editedInput }: Call, outcome: Outcome, maxBytes: number): ModelAnswer {
  const answer = toModelAnswer(outcome, { timeoutMs, maxBytes });
  if (!editedInput) return answer;
  const note = `The participant changed the arguments to ${JSON.stringify(editedInput)}.`;
  const { content } = answer;
  if (typeof content === "string") return { ...answer, content: `${note}\n${content}` };
  return { ...answer, content: [{ type: "text", text: note }, ...content] };
}

/**
 * What the model reads for a call that continues without its turn. The call is running, is waiting for permission to
 * start (`toStart`), or is waiting for an answer (`asking`).
 */
export const RECEIPTS = {
  running: "Still running. Its outcome will be reported when it arrives.",
  toStart: "Waiting for the participant's permission. Its outcome will be reported when it arrives.",
  asking: "Waiting for the participant's answer. Its outcome will be reported when it arrives.",
} as const;

/** Whether a tool result in the conversation is a receipt. */
export function isReceipt(content: unknown): boolean {
  if (typeof content !== "string") return false;
  if (Object.values<string>(RECEIPTS).includes(content)) return true;
  return /^Started in the background \(call [\w-]+\)\. Its result will /u.test(content);
}

export function backgroundReceipt(callId: string): string {
  return `Started in the background (call ${callId}). Its result will be reported when it arrives.`;
}
