import { AppError, ERROR_CODES, type ErrorCode } from "../errors/app-error.ts";
import { abortable } from "../lib/abortable.ts";
import type { Attachment } from "./attachment.ts";
import type { AnswerEndEvent, ParleyEvents, ToolResultEvent } from "./client-events.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
/** A failed turn ends with an empty answer. The worker's ErrorMessage follows within this time. */
const ERROR_FOLLOWS_MS = 1_000;

export interface AskOptions {
  /** Aborting it rejects `ask` and stops the answer. */
  readonly signal?: AbortSignal | undefined;
  /** @defaultValue 120000 */
  readonly timeoutMs?: number | undefined;
  /** Makes the turn part of this trace (W3C Trace Context). */
  readonly traceparent?: string;
  /** Files that the model receives with the message. @defaultValue none */
  readonly attachments?: readonly Attachment[];
}

export interface WholeAnswer {
  readonly messageId: string;
  readonly text: string;
  readonly sentences: readonly string[];
  /** Results of this answer's calls, in the order of arrival. */
  readonly toolResults: readonly ToolResultEvent[];
}

interface AskPorts {
  readonly on: <Name extends keyof ParleyEvents>(
    event: Name,
    handler: (value: ParleyEvents[Name]) => void,
  ) => () => void;
  readonly sendText: (text: string) => { readonly messageId: string; readonly acknowledged: Promise<void> };
  readonly stop: () => void;
}

/** See `Parley.ask`. */
export async function ask(text: string, options: AskOptions, ports: AskPorts): Promise<WholeAnswer> {
  const { signal, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  signal?.throwIfAborted();
  const answer = Promise.withResolvers<AnswerEndEvent>();
  const toolResults: ToolResultEvent[] = [];
  const callIds = new Set<string>();
  let answerId: string | undefined;
  let messageId: string | undefined;
  let errorTimer: ReturnType<typeof setTimeout> | undefined;
  const late = () => answer.reject(new AppError("unavailable", `No complete answer arrived within ${timeoutMs} ms`));
  const timer = setTimeout(late, timeoutMs);
  const offs = [
    ports.on("answer_start", ({ id, previousId }) => {
      if (previousId === messageId) answerId = id;
    }),
    ports.on("tool_call", (call) => {
      if (call.messageId === answerId) callIds.add(call.id);
    }),
    ports.on("tool_result", (result) => {
      if (callIds.has(result.id)) toolResults.push(result);
    }),
    ports.on("answer_end", (end) => {
      if (end.previousId !== messageId) return;
      if (end.text !== "") answer.resolve(end);
      else errorTimer = setTimeout(() => answer.resolve(end), ERROR_FOLLOWS_MS);
    }),
    ports.on("error", ({ code, message, originatingId }) => {
      if (originatingId !== undefined && originatingId === messageId) answer.reject(toError(code, message));
    }),
  ];
  try {
    const sent = ports.sendText(text);
    messageId = sent.messageId;
    sent.acknowledged.catch(answer.reject);
    const end = await (signal ? abortable(answer.promise, signal) : answer.promise);
    return { messageId, text: end.text, sentences: end.sentences, toolResults };
  } catch (error) {
    if (signal?.aborted) ports.stop();
    throw error;
  } finally {
    clearTimeout(timer);
    clearTimeout(errorTimer);
    for (const off of offs) off();
  }
}

export function toError(wire: number, message: string): AppError {
  const known = Object.entries(ERROR_CODES).find(([, entry]) => entry.wire === wire);
  return new AppError((known?.[0] ?? "internal") as ErrorCode, message);
}
