import PQueue from "p-queue";
import { AppError, toAppError } from "../../errors/app-error.ts";
import { retryWhileUnavailable } from "../../store/database/retry-while-unavailable.ts";
import { addUsage, NO_USAGE, type ModelEvent, type Usage } from "../../llm/model-event.ts";
import { BUDGET_SCOPES, type BudgetScope, type Spender } from "../../store/spending/spending.ts";
import type { Delivery } from "../../tool/calls/call-ports.ts";
import type { SummaryModel } from "../context/summarizer.ts";
import type { OpenStream } from "../model/open-stream.ts";
import { type Budget, costOf, type Prices, usedShare } from "./budget.ts";
import type { SpendingStore } from "./spending-store.ts";

/** Why a model is called: for a step of a turn, or to write a summary. */
export type Purpose = "step" | "summary";

/** How long a write is retried while the store is unreachable. */
const GIVE_UP_AFTER_MS = 10_000;
/**
 * Without a budget, how long costs are collected before they are stored together. With a budget, they are stored at
 * once, because the next model call needs the sums.
 */
const STORE_AFTER_MS = 250;
const WARN_AT = 0.8;
/**
 * How many bytes of an answer count as one token. The API does not report the output tokens of an answer that was cut
 * off, so they are estimated.
 */
const BYTES_A_TOKEN = 4;

interface SpendingOptions {
  readonly store: SpendingStore;
  readonly sessionId: string;
  /** The name of the worker's machine. */
  readonly worker: string;
  readonly budget: Budget;
  readonly prices: Prices;
  /** Called when something could not be stored. Must not throw. */
  readonly onLost: (error: AppError) => void;
  readonly onSpent: (spent: {
    readonly tokens: number;
    readonly money: number;
    readonly model: string;
    readonly purpose: Purpose;
  }) => void;
  readonly onBudget: (scope: BudgetScope, event: "warned" | "spent") => void;
}

interface Counted {
  readonly participant: string;
  readonly model: string;
  readonly purpose: Purpose;
}

interface Waiting extends Counted {
  readonly usage: Usage;
  readonly calls: number;
  readonly money: number;
}

/**
 * Counts the cost of a session's model calls, and checks whether a budget is used up. The sums are in the store: they
 * outlive the worker and are shared by all workers.
 */
export class Spending {
  readonly #options: SpendingOptions;
  /** Writes run one after another, so that they occupy only one connection of the pool. */
  readonly #writes = new PQueue({ concurrency: 1 });
  /** Costs that were not passed to the store yet, by participant, model and purpose. */
  readonly #waiting = new Map<string, Waiting>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SpendingOptions) {
    this.#options = options;
  }

  /** Wraps a model so that its calls are counted, and no more are made once a budget is used up. */
  limited(openStream: OpenStream, model: () => string): OpenStream {
    return (request, signal) =>
      this.#step(() => openStream(request, signal), { participant: request.participant, model: model() });
  }

  /** Like `limited`, but for the summary model, whose call fails once a budget is used up. */
  countedSummaries({ name, ask }: SummaryModel): SummaryModel {
    return {
      name,
      ask: (prompt, participant, signal) =>
        this.#notes(() => ask(prompt, participant, signal), { participant, model: name }),
    };
  }

  /**
   * Passes a model call's events through and counts its tokens. The request's tokens are counted as soon as the answer
   * begins, so that with a budget, they are stored even if the worker is killed later. The answer's tokens are counted
   * at its end. If the call is retried, each attempt counts.
   */
  async *counted(stream: AsyncIterable<ModelEvent>, by: Counted): AsyncGenerator<ModelEvent, void, undefined> {
    let of = by;
    let known = NO_USAGE;
    let streamedBytes = 0;
    try {
      for await (const event of stream) {
        if (event.type === "model_selected") of = { ...of, model: event.model };
        if ((event.type === "retry" || event.type === "model_failed") && event.usage) this.#add(of, event.usage, 1);
        if (event.type === "message_start") {
          this.#add(of, event.usage, 1);
          known = event.usage;
        }
        if (event.type === "block_delta") streamedBytes += bytesOf(event.delta);
        if (event.type === "message_stop") {
          this.#add(of, difference(event.usage, known), 0);
          streamedBytes = 0;
        }
        yield event;
      }
    } finally {
      const estimated = Math.ceil(streamedBytes / BYTES_A_TOKEN) - known.outputTokens;
      if (streamedBytes > 0 && estimated > 0) this.#add(of, { ...NO_USAGE, outputTokens: estimated }, 0);
    }
  }

  async *#step(open: () => AsyncIterable<ModelEvent>, of: Omit<Counted, "purpose">): AsyncGenerator<ModelEvent> {
    if (await this.isSpent(of.participant))
      yield { type: "message_stop", stopReason: "budget", stopDetails: null, usage: NO_USAGE };
    else yield* this.counted(open(), { ...of, purpose: "step" });
  }

  async *#notes(open: () => AsyncIterable<ModelEvent>, of: Omit<Counted, "purpose">): AsyncGenerator<ModelEvent> {
    if (await this.isSpent(of.participant)) throw new AppError("invalid_state", "The budget is used up");
    yield* this.counted(open(), { ...of, purpose: "summary" });
  }

  /**
   * Whether a budget is used up, so that no model call may be made for this participant. Stores pending costs first.
   *
   * @throws {AppError} `unavailable`
   */
  async isSpent(participant: string): Promise<boolean> {
    const shares = await this.#shares(participant);
    const spent = shares.find(({ share }) => share >= 1);
    if (spent) this.#options.onBudget(spent.scope, "spent");
    return spent !== undefined;
  }

  /**
   * Warns through `say` if a budget is nearly used up: once per session budget, once a day for any other. A warning
   * that was neither heard nor shown is given again after a later answer. Never rejects.
   */
  async warn(participant: string, say: () => Promise<Delivery> | undefined): Promise<void> {
    const { store, onBudget, onLost } = this.#options;
    const spender = this.#spender(participant);
    const due: BudgetScope[] = [];
    let isDelivered = false;
    try {
      const low = (await this.#shares(participant)).filter(({ share }) => share >= WARN_AT && share < 1);
      // A warning is taken before it is given, so that no two sessions give the same one.
      for (const { scope } of low) if (await store.takeWarning(spender, scope)) due.push(scope);
      if (due.length > 0) isDelivered = ((await say()) ?? "unsaid") !== "unsaid";
    } catch (error) {
      onLost(toAppError(error));
    }
    for (const scope of due) {
      if (isDelivered) onBudget(scope, "warned");
      else await store.returnWarning(spender, scope).catch((error: unknown) => onLost(toAppError(error)));
    }
  }

  /** Resolves once everything counted is stored or has failed. */
  async close(): Promise<void> {
    await this.#stored();
  }

  async #stored(): Promise<void> {
    this.#store();
    await this.#writes.onIdle();
  }

  async #shares(participant: string): Promise<readonly { readonly scope: BudgetScope; readonly share: number }[]> {
    const { store, budget } = this.#options;
    if (Object.keys(budget).length === 0) return [];
    await this.#stored();
    const spent = await store.load(this.#spender(participant));
    return BUDGET_SCOPES.map((scope) => ({ scope, share: usedShare(budget, scope, spent[scope]) }));
  }

  #spender(identity: string): Spender {
    const { sessionId, worker } = this.#options;
    return { sessionId, identity, worker };
  }

  #add({ participant, model, purpose }: Counted, usage: Usage, calls: number): void {
    const { prices, budget, onSpent } = this.#options;
    const money = costOf(usage, Object.hasOwn(prices, model) ? prices[model] : undefined);
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
    onSpent({ tokens: inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens, money, model, purpose });
    const key = `${purpose} ${model} ${participant}`;
    const { usage: earlier, ...before } = this.#waiting.get(key) ?? { usage: NO_USAGE, calls: 0, money: 0 };
    const sum = { usage: addUsage(earlier, usage), calls: before.calls + calls, money: before.money + money };
    this.#waiting.set(key, { participant, model, purpose, ...sum });
    if (Object.keys(budget).length > 0) this.#store();
    else this.#timer ??= setTimeout(() => this.#store(), STORE_AFTER_MS);
  }

  /** Passes the pending costs to the store. */
  #store(): void {
    const { store, onLost } = this.#options;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const { participant, usage, ...rest } of this.#waiting.values()) {
      const spending = { ...this.#spender(participant), ...usage, ...rest };
      const write = () => retryWhileUnavailable(() => store.add(spending), { giveUpAfterMs: GIVE_UP_AFTER_MS });
      this.#writes.add(write).catch((error: unknown) => onLost(toAppError(error)));
    }
    this.#waiting.clear();
  }
}

function bytesOf(delta: Extract<ModelEvent, { type: "block_delta" }>["delta"]): number {
  if (delta.type === "other") return 0;
  return Buffer.byteLength(delta.type === "input_json" ? delta.partialJson : delta.text);
}

function difference(usage: Usage, known: Usage): Usage {
  return {
    inputTokens: usage.inputTokens - known.inputTokens,
    outputTokens: usage.outputTokens - known.outputTokens,
    cacheReadTokens: usage.cacheReadTokens - known.cacheReadTokens,
    cacheWriteTokens: usage.cacheWriteTokens - known.cacheWriteTokens,
  };
}
