import type { IdleStep } from "../../agent/agent-fields.ts";

interface IdleOptions {
  readonly steps: () => readonly IdleStep[];
  /** Whether a participant is present, and no turn, tool or question is open. */
  readonly isPause: () => boolean;
  /** Resolves when nobody is speaking. Rejects with the signal's reason. */
  readonly untilQuiet: (signal: AbortSignal) => Promise<void>;
  readonly act: (step: IdleStep) => void;
}

/**
 * How long waiting for quiet may take at most. If it takes longer, somebody was speaking, and the silence is measured
 * again.
 */
const MAX_QUIET_WAIT_MS = 50;

/** Measures silence and runs the agent's `idle` steps in order. */
export class Idle {
  readonly #options: IdleOptions;
  readonly #closing = new AbortController();
  #step = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IdleOptions) {
    this.#options = options;
  }

  /** Call this when a participant joins, speaks or types. The steps start over. */
  handleActivity(): void {
    this.#step = 0;
    this.handleWork();
  }

  /** Call this after the agent or a tool has done something. Restarts the wait for the next step. */
  handleWork(): void {
    clearTimeout(this.#timer);
    const step = this.#options.steps()[this.#step];
    if (!step || this.#closing.signal.aborted) return;
    this.#timer = setTimeout(() => void this.#act(step), step.afterMs);
  }

  close(): void {
    this.#closing.abort();
    clearTimeout(this.#timer);
  }

  async #act(step: IdleStep): Promise<void> {
    const { isPause, untilQuiet, act } = this.#options;
    const timer = this.#timer;
    const since = performance.now();
    try {
      await untilQuiet(this.#closing.signal);
    } catch {
      return;
    }
    if (this.#timer !== timer || this.#closing.signal.aborted) return;
    if (!isPause() || performance.now() - since > MAX_QUIET_WAIT_MS) return this.handleWork();
    this.#step++;
    act(step);
  }
}
