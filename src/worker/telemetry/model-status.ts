import type { ReadyCheck } from "../../http/routes/health-routes.ts";
import type { ModelCallReport } from "../../llm/watch-model.ts";
import type { Logger } from "../logger.ts";

const WARN_EVERY_MS = 60_000;

interface Failing {
  warnedAt: number;
  /** Calls that failed since the last warning. */
  calls: number;
  isFailing: boolean;
}

/**
 * Keeps track of whether the models answer, by the results of all sessions' calls. While a model refuses calls or
 * cannot be reached, logs a warning at most once a minute for each kind of failure.
 */
export class ModelStatus {
  readonly #logger: Logger;
  readonly #now: () => number;
  /** By model, then by kind of failure. */
  readonly #failures = new Map<string, Map<string, Failing>>();

  constructor(logger: Logger, now: () => number = () => performance.now()) {
    this.#logger = logger;
    this.#now = now;
  }

  /** For `GET /ready`. A worker whose model is away can still do everything else, and no restart would help. */
  readonly check: ReadyCheck = {
    part: "model",
    isRequired: false,
    check: async () =>
      ![...this.#failures.values()].some((kinds) => [...kinds.values()].some((each) => each.isFailing)),
  };

  note({ model, refusal }: ModelCallReport): void {
    const kinds = this.#failures.get(model) ?? new Map<string, Failing>();
    this.#failures.set(model, kinds);
    if (!refusal) return this.#noteAnswer(model, [...kinds.values()]);
    const failing = kinds.get(refusal.kind) ?? { warnedAt: Number.NEGATIVE_INFINITY, calls: 0, isFailing: true };
    kinds.set(refusal.kind, failing);
    failing.calls++;
    failing.isFailing = true;
    if (this.#now() - failing.warnedAt < WARN_EVERY_MS) return;
    this.#logger.warn({ model, ...refusal, failedCalls: failing.calls }, "model refuses calls");
    failing.warnedAt = this.#now();
    failing.calls = 0;
  }

  #noteAnswer(model: string, kinds: readonly Failing[]): void {
    if (!kinds.some(({ isFailing }) => isFailing)) return;
    for (const failing of kinds) failing.isFailing = false;
    this.#logger.info({ model }, "model answers again");
  }
}
