import { type Call } from "../../conversation/call.ts";

/** How often a call's logs and progress are stored and shown. */
export const PROGRESS_EVERY_MS = 200;

interface Held {
  readonly timer: NodeJS.Timeout;
  newest: Call | undefined;
}

/** Lets what calls say of themselves through at most five times a second each, the newest; the rest is in that. */
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

  /** Lets through what is held of a call: before any other change of it. */
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
