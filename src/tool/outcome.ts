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

/** The blocks with at most so many bytes of text in all, and a mark where some is left out. */
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

/** The result as text: `{value: "text"}` is that text, anything else is JSON. */
export function resultText(result: JsonObject): string {
  const isWrapped = Object.keys(result).length === 1 && "value" in result;
  const value = isWrapped ? result["value"] : result;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The outcome in words for the model. When the participant changed the arguments, the words say so. */
export function toCallAnswer({ timeoutMs, editedInput }: Call, outcome: Outcome, maxBytes: number): ModelAnswer {
  const answer = toModelAnswer(outcome, { timeoutMs, maxBytes });
  if (!editedInput) return answer;
  const note = `The participant changed the arguments to ${JSON.stringify(editedInput)}.`;
  const { content } = answer;
  if (typeof content === "string") return { ...answer, content: `${note}\n${content}` };
  return { ...answer, content: [{ type: "text", text: note }, ...content] };
}

/** What the model reads of a call that goes on without its turn: it runs, waits to start, or waits for an answer. */
export const RECEIPTS = {
  running: "Still running. Its outcome will be reported when it arrives.",
  toStart: "Waiting for the participant's permission. Its outcome will be reported when it arrives.",
  asking: "Waiting for the participant's answer. Its outcome will be reported when it arrives.",
} as const;

/** Whether a result that the model was given is a receipt. */
export function isReceipt(content: unknown): boolean {
  if (typeof content !== "string") return false;
  if (Object.values<string>(RECEIPTS).includes(content)) return true;
  return /^Started in the background \(call [\w-]+\)\. Its result will /u.test(content);
}

export function backgroundReceipt(callId: string): string {
  return `Started in the background (call ${callId}). Its result will be reported when it arrives.`;
}
