import type { IdleStep } from "../../agent/agent-fields.ts";

interface IdleOptions {
  readonly steps: () => readonly IdleStep[];
  /** Whether a participant is there, and no turn, tool or question is open. */
  readonly isPause: () => boolean;
  /** Resolves when nobody speaks; rejects with the signal's reason. */
  readonly untilQuiet: (signal: AbortSignal) => Promise<void>;
  readonly act: (step: IdleStep) => void;
}

/** If the wait for silence takes longer than this, somebody was speaking. */
const AT_ONCE_MS = 50;

/** Measures silence, and takes the agent's `idle` steps one after another. */
export class Idle {
  readonly #options: IdleOptions;
  readonly #closing = new AbortController();
  #step = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IdleOptions) {
    this.#options = options;
  }

  /** A participant has joined or said something: the steps begin again. */
  noteActivity(): void {
    this.#step = 0;
    this.noteWork();
  }

  /** The agent or a tool did something: the time until the next step begins again. */
  noteWork(): void {
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
    if (!isPause() || performance.now() - since > AT_ONCE_MS) return this.noteWork();
    this.#step++;
    act(step);
  }
}
