import type { Call } from "../../conversation/call.ts";
import type { Peers } from "../peers/peers.ts";
import type { Outbox } from "../wire/outbox.ts";
import { toToolCallState } from "./tool-call-state.ts";

interface ToolStatesOptions {
  readonly outbox: Pick<Outbox, "send">;
  readonly peers: Pick<Peers, "withFeature" | "absentWithFeature">;
}

interface Waiting {
  call: Call;
  readonly to: readonly string[];
}

const FEATURE = "tool_call_state";
/** How many calls that ended while a client was away are shown to it when it comes back. */
const MAX_MISSED = 16;

/**
 * Shows calls to the clients that asked for it (type 100). For each call, one message at a time is under way. Changes
 * that come meanwhile wait; of several with the same status only the newest is sent. So each client sees each status of
 * a call, in order, and many logs cost no more than the connection carries.
 */
export class ToolStates {
  readonly #options: ToolStatesOptions;
  /** By call: states that wait. A state of each call with an entry, even an empty one, is being sent. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #missed = new Map<string, Call[]>();

  constructor(options: ToolStatesOptions) {
    this.#options = options;
  }

  show(call: Call): void {
    const { peers } = this.#options;
    this.#add(call, peers.withFeature(FEATURE));
    if (!call.outcome) return;
    for (const identity of peers.absentWithFeature(FEATURE)) {
      const missed = [...(this.#missed.get(identity) ?? []), call];
      this.#missed.set(identity, missed.slice(-MAX_MISSED));
    }
  }

  /** Shows a client the calls that are open, and those that ended while it was away. */
  welcome(identity: string, open: readonly Call[]): void {
    const missed = this.#missed.get(identity) ?? [];
    this.#missed.delete(identity);
    if (!this.#options.peers.withFeature(FEATURE).includes(identity)) return;
    for (const call of [...missed, ...open]) this.#add(call, [identity]);
  }

  #add(call: Call, to: readonly string[]): void {
    if (to.length === 0 || call.detail === "off") return;
    const waiting = this.#waiting.get(call.id);
    if (!waiting) {
      this.#waiting.set(call.id, []);
      return void this.#send({ call, to });
    }
    const last = waiting.at(-1);
    if (last?.call.state === call.state && last.to.join("\n") === to.join("\n")) last.call = call;
    else waiting.push({ call, to });
  }

  async #send({ call, to }: Waiting): Promise<void> {
    const body = toToolCallState(call);
    try {
      if (body) await this.#options.outbox.send({ type: "tool_call_state", body }, { to }).sent;
    } catch {
      // The next state or the next welcome contains it.
    }
    const next = this.#waiting.get(call.id)?.shift();
    if (next) return this.#send(next);
    this.#waiting.delete(call.id);
  }
}

/** How often a call's logs and progress are stored and shown. */
export const PROGRESS_EVERY_MS = 200;

interface Held {
  readonly timer: NodeJS.Timeout;
  newest: Call | undefined;
}

/** Lets logs and progress through, for each call once in `PROGRESS_EVERY_MS`: the newest, which contains the others. */
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

  /** Lets through what is held of a call. Must come before any other change of that call. */
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
