import { AppError, ERROR_CODES, type ErrorCode } from "../errors/app-error.ts";
import { fieldsOf } from "../lib/checks/did-you-mean.ts";
import { abortable } from "../lib/abortable.ts";
import type { Attachment } from "./attachment.ts";
import type { AnswerEndEvent, ParleyEvents, ToolResultEvent } from "./client-events.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
/**
 * How long to wait for an error after an empty answer: a failed turn ends with an empty answer, and the worker's
 * ErrorMessage follows.
 */
const ERROR_FOLLOWS_MS = 1_000;

export interface AskOptions {
  /** Aborting this signal rejects `ask` and stops the answer. */
  readonly signal?: AbortSignal | undefined;
  /** @defaultValue 120000 */
  readonly timeoutMs?: number | undefined;
  /** Makes the turn part of this trace (W3C Trace Context). */
  readonly traceparent?: string;
  /** Files that the model receives with the message. @defaultValue none */
  readonly attachments?: readonly Attachment[];
}

export const ASK_OPTIONS = fieldsOf<AskOptions>({
  signal: true,
  timeoutMs: true,
  traceparent: true,
  attachments: true,
});

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
  const answer = new PendingAnswer(ports);
  const late = () => answer.fail(new AppError("unavailable", `No complete answer arrived within ${timeoutMs} ms`));
  const timer = setTimeout(late, timeoutMs);
  try {
    const { messageId, acknowledged } = ports.sendText(text);
    answer.messageId = messageId;
    acknowledged.catch(answer.fail);
    const end = await (signal ? abortable(answer.end, signal) : answer.end);
    return { messageId, text: end.text, sentences: end.sentences, toolResults: answer.toolResults };
  } catch (error) {
    if (signal?.aborted) ports.stop();
    throw error;
  } finally {
    clearTimeout(timer);
    answer.close();
  }
}

/** Picks the answer to one message, and the results of its calls, out of the client's events. */
class PendingAnswer {
  /** The message's id. Set as soon as the message is sent. */
  messageId: string | undefined;
  readonly toolResults: ToolResultEvent[] = [];
  readonly #end = Promise.withResolvers<AnswerEndEvent>();
  readonly #callIds = new Set<string>();
  readonly #offs: readonly (() => void)[];
  #answerId: string | undefined;
  #errorTimer: ReturnType<typeof setTimeout> | undefined;

  constructor({ on }: Pick<AskPorts, "on">) {
    this.#offs = [
      on("answer_start", ({ id, previousId }) => {
        if (previousId === this.messageId) this.#answerId = id;
      }),
      on("tool_call", (call) => {
        if (call.messageId === this.#answerId) this.#callIds.add(call.id);
      }),
      on("tool_result", (result) => {
        if (this.#callIds.has(result.id)) this.toolResults.push(result);
      }),
      on("answer_end", (end) => {
        if (end.previousId !== this.messageId) return;
        if (end.text !== "") this.#end.resolve(end);
        else this.#errorTimer = setTimeout(() => this.#end.resolve(end), ERROR_FOLLOWS_MS);
      }),
      on("error", ({ code, message, originatingId }) => {
        if (originatingId !== undefined && originatingId === this.messageId) this.fail(toError(code, message));
      }),
    ];
  }

  /** Resolves when the answer has ended. Rejects when an error for the message arrives, or when `fail` is called. */
  get end(): Promise<AnswerEndEvent> {
    return this.#end.promise;
  }

  readonly fail = (error: unknown) => this.#end.reject(error);

  close(): void {
    clearTimeout(this.#errorTimer);
    for (const off of this.#offs) off();
  }
}

export function toError(wire: number, message: string): AppError {
  const known = Object.entries(ERROR_CODES).find(([, entry]) => entry.wire === wire);
  return new AppError((known?.[0] ?? "internal") as ErrorCode, message);
}
