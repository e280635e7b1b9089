import type { Call } from "../../conversation/call.ts";
import type { JsonObject } from "../../lib/json.ts";
import { evictOldest } from "../../lib/evict-oldest.ts";
import { memoizeByObject } from "../../lib/memoize-by-object.ts";
import { callAsTold } from "../../session/events/live-event.ts";
import { toToolCallState } from "../../session/calls/tool-call-state.ts";
import { loadCall, loadCallsNow } from "../../store/calls.ts";
import type { SseEvent } from "../sse/sse-stream.ts";
import type { SharedReads } from "./shared-reads.ts";

interface CallFeedOptions {
  readonly reads: SharedReads;
  readonly sessionId: string;
  readonly send: (event: SseEvent) => Promise<void>;
  /** Returns the event for a call, or `undefined` if the call is not shown. */
  readonly toEvent: (call: Call) => SseEvent | undefined;
}

/** Returns the `tool_state` event for a call, or `undefined` if the call is not shown. */
export const toToolStateEvent = memoizeByObject((call: Call): SseEvent | undefined => {
  const { messageId: turnId, revision: sequence } = call;
  const state = toToolCallState(call);
  return state && { event: "tool_state", data: { turnId, sequence, ...state } };
});

/** Returns a stored call in the state that a live event reports. */
const toldStates = memoizeByObject((stored: Call) => memoizeByObject((told: JsonObject) => callAsTold(stored, told)));

const REMEMBERED_CALLS = 1_000;

/** Sends a session's calls. Never sends the same state of a call twice, or an older state after a newer one. */
export class CallFeed {
  readonly #options: CallFeedOptions;
  /** The last revision sent, by call id. */
  readonly #shown = new Map<string, number>();
  /** The ids of calls whose last sent state was open. */
  readonly #open = new Set<string>();

  constructor(options: CallFeedOptions) {
    this.#options = options;
  }

  /**
   * Sends the running turn's calls, all other open calls, and the end of calls that were sent as open.
   *
   * @throws {AppError} `unavailable`
   */
  async showNow(): Promise<void> {
    const { reads, sessionId } = this.#options;
    const calls = await reads.read(loadCallsNow, { sessionId });
    for (const call of calls) await this.#show(call);
    const ids = new Set(calls.map(({ id }) => id));
    for (const callId of this.#open) {
      const ended = ids.has(callId) ? undefined : await reads.read(loadCall, { sessionId, callId });
      if (ended) await this.#show(ended);
    }
  }

  /** Sends a live event's call in the state that the event reports. @throws {AppError} `unavailable` */
  async showTold(told: JsonObject): Promise<void> {
    const { reads, sessionId } = this.#options;
    const { callId } = told;
    if (typeof callId !== "string") return;
    if (Number(told["revision"]) <= (this.#shown.get(callId) ?? 0)) return;
    const call = await reads.read(loadCall, { sessionId, callId });
    if (call) await this.#show(toldStates(call)(told));
  }

  async #show(call: Call): Promise<void> {
    const { id, revision } = call;
    const event = this.#options.toEvent(call);
    if (!event || revision <= (this.#shown.get(id) ?? 0)) return;
    this.#shown.delete(id);
    this.#shown.set(id, revision);
    evictOldest(this.#shown, REMEMBERED_CALLS);
    if (call.outcome) this.#open.delete(id);
    else this.#open.add(id);
    await this.#options.send(event);
  }
}
