import type { MessageBody } from "../../protocol/messages/messages.ts";

/**
 * These two limits allow 10 ToolUseProgress messages per second: half of what the worker accepts from one participant.
 */
const TICK_MS = 200;
const MESSAGES_PER_TICK = 2;
const MAX_LOG_LENGTH = 16_384;

interface Pending {
  lines: string[];
  progress: number | undefined;
}

/** Batches the logs and progress of running calls into few messages. The order within a call is preserved. */
export class ProgressSender {
  readonly #send: (body: MessageBody<"tool_use_progress">) => void;
  readonly #pending = new Map<string, Pending>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(send: (body: MessageBody<"tool_use_progress">) => void) {
    this.#send = send;
  }

  log(id: string, line: string): void {
    this.#of(id).lines.push(String(line));
  }

  /** Clamps `fraction` to the range from 0 to 1. Ignores NaN. */
  progress(id: string, fraction: number): void {
    if (!Number.isNaN(fraction)) this.#of(id).progress = Math.min(1, Math.max(0, fraction));
  }

  /** Sends what is pending for a call. Call this before sending the call's result. */
  flush(id: string): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    this.#pending.delete(id);
    const { lines, progress } = pending;
    const log = lines.join("\n").slice(0, MAX_LOG_LENGTH);
    this.#send({ id, ...(lines.length > 0 && { log }), ...(progress !== undefined && { progress }) });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#pending.clear();
  }

  #of(id: string): Pending {
    const pending = this.#pending.get(id) ?? { lines: [], progress: undefined };
    this.#pending.set(id, pending);
    this.#timer ??= setTimeout(() => this.#tick(), TICK_MS);
    return pending;
  }

  #tick(): void {
    this.#timer = undefined;
    for (const id of [...this.#pending.keys()].slice(0, MESSAGES_PER_TICK)) this.flush(id);
    if (this.#pending.size > 0) this.#timer = setTimeout(() => this.#tick(), TICK_MS);
  }
}
