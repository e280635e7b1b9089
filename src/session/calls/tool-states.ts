import type { Call, ExtraAnswer } from "../../conversation/call.ts";
import type { JsonObject } from "../../lib/json.ts";
import { evictOldest } from "../../lib/evict-oldest.ts";
import { MAX_ABSENT, type Participants } from "../participants/participants.ts";
import type { Outbox } from "../wire/outbox.ts";
import { type ToolCallState, toToolCallState } from "./tool-call-state.ts";

interface ToolStatesOptions {
  readonly outbox: Pick<Outbox, "send">;
  readonly participants: Pick<Participants, "withFeature" | "absentWithFeature">;
}

interface Waiting {
  body: ToolCallState;
  readonly to: readonly string[];
}

const FEATURE = "tool_call_state";
/** How many ended calls a returning client is shown at most, of those that ended while it was away. */
const MAX_MISSED = 16;
/** How many ended calls are retained in case of late answers. */
const MAX_ENDED = 16;
/** The maximum number of late answers in a call's state. */
const MAX_EXTRA = 8;

/**
 * Sends call states to the clients that asked for them (type 100). For each call, only one message is in flight at a
 * time. Later changes are queued; among consecutive ones with the same status, only the newest is sent. Each client
 * therefore sees every status of a call, in order, and frequent logs cannot flood the connection.
 */
export class ToolStates {
  readonly #options: ToolStatesOptions;
  /** Queued states, by call. An entry, even an empty one, means that a state of this call is being sent. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #missed = new Map<string, ToolCallState[]>();
  /** The participant whose permission is requested, by call id. */
  readonly #approvers = new Map<string, string>();
  /** The states of the most recently ended calls, by call id. */
  readonly #ended = new Map<string, ToolCallState>();

  constructor(options: ToolStatesOptions) {
    this.#options = options;
  }

  show(call: Call): void {
    const { participants } = this.#options;
    const to = participants.withFeature(FEATURE);
    const absent = call.outcome ? participants.absentWithFeature(FEATURE) : [];
    const body = to.length + absent.length > 0 ? this.#toState(call) : undefined;
    if (!body) return;
    this.#add(body, to);
    for (const identity of absent) {
      const missed = [...(this.#missed.get(identity) ?? []), body];
      this.#missed.delete(identity);
      this.#missed.set(identity, missed.slice(-MAX_MISSED));
    }
    evictOldest(this.#missed, MAX_ABSENT);
    if (!call.outcome || call.detail !== "full") return;
    this.#ended.set(call.id, body);
    evictOldest(this.#ended, MAX_ENDED);
  }

  /** Shows clients who is asked for a call's permission. The approver is shown the question instead. */
  showAsked(call: Call, approver: string): void {
    this.#approvers.set(call.id, approver);
    const others = this.#options.participants.withFeature(FEATURE).filter((identity) => identity !== approver);
    const body = others.length > 0 ? this.#toState(call) : undefined;
    if (body) this.#add(body, others);
  }

  /** Call this when the question has been decided. The call's next state shows the result. */
  forgetAsked(callId: string): void {
    this.#approvers.delete(callId);
  }

  /** Adds an extra answer, which arrived after the call had ended, to the call's final state. */
  showExtra(callId: string, { kind, from, success }: ExtraAnswer): void {
    const ended = this.#ended.get(callId);
    if (!ended) return;
    const metadata = JSON.parse(ended.metadataJson) as JsonObject & { readonly extraAnswers?: readonly JsonObject[] };
    const { extraAnswers = [] } = metadata;
    if (extraAnswers.length >= MAX_EXTRA) return;
    const more = { ...metadata, extraAnswers: [...extraAnswers, { kind, from, at: Date.now(), success }] };
    const body = { ...ended, metadataJson: JSON.stringify(more) };
    this.#ended.set(callId, body);
    this.#add(body, this.#options.participants.withFeature(FEATURE));
  }

  /** Shows a client the open calls, and those that ended while it was away. */
  welcome(identity: string, open: readonly Call[]): void {
    const missed = this.#missed.get(identity) ?? [];
    this.#missed.delete(identity);
    if (!this.#options.participants.withFeature(FEATURE).includes(identity)) return;
    for (const body of [...missed, ...open.flatMap((call) => this.#toState(call) ?? [])]) this.#add(body, [identity]);
  }

  #toState(call: Call): ToolCallState | undefined {
    return toToolCallState(call, { approver: this.#approvers.get(call.id) });
  }

  #add(body: ToolCallState, to: readonly string[]): void {
    if (to.length === 0) return;
    const waiting = this.#waiting.get(body.id);
    if (!waiting) {
      this.#waiting.set(body.id, []);
      return void this.#send({ body, to });
    }
    const last = waiting.at(-1);
    if (last?.body.status === body.status && last.to.join("\n") === to.join("\n")) last.body = body;
    else waiting.push({ body, to });
  }

  async #send({ body, to }: Waiting): Promise<void> {
    try {
      await this.#options.outbox.send({ type: "tool_call_state", body }, { to }).sent;
    } catch {
      // Not retried: the next state, or the next `welcome`, shows the client what it missed.
    }
    const next = this.#waiting.get(body.id)?.shift();
    if (next) return this.#send(next);
    this.#waiting.delete(body.id);
  }
}

/** How often a call's logs and progress are stored and shown. */
export const PROGRESS_EVERY_MS = 200;

interface Held {
  readonly timer: NodeJS.Timeout;
  newest: Call | undefined;
}

/**
 * Throttles a call's logs and progress to one state per `PROGRESS_EVERY_MS`. Passes on only the newest state, because
 * it contains all earlier logs.
 */
export class ProgressGate {
  readonly #pass: (call: Call) => void;
  readonly #held = new Map<string, Held>();

  constructor(pass: (call: Call) => void) {
    this.#pass = pass;
  }

  note(call: Call): void {
    const held = this.#held.get(call.id);
    if (held) held.newest = call;
    else this.#through(call);
  }

  /** Passes on a call's held state. Call this before passing on any other change to that call. */
  flush(callId: string): void {
    const held = this.#held.get(callId);
    if (!held) return;
    clearTimeout(held.timer);
    this.#held.delete(callId);
    if (held.newest) this.#pass(held.newest);
  }

  #through(call: Call): void {
    const timer = setTimeout(() => {
      const newest = this.#held.get(call.id)?.newest;
      this.#held.delete(call.id);
      if (newest) this.#through(newest);
    }, PROGRESS_EVERY_MS);
    this.#held.set(call.id, { timer, newest: undefined });
    this.#pass(call);
  }
}
