import type { Usage } from "../../llm/model-event.ts";
import type { BudgetScope, Spent } from "../../store/spending/spending.ts";

/** A budget is used up when either number is reached. */
interface Limit {
  /** All tokens alike: input, output, and those read from and written to the cache. */
  readonly tokens?: number;
  /** In the currency of the prices. */
  readonly money?: number;
}

export interface Budget {
  readonly session?: Limit;
  /** Of a UTC day, in all sessions. */
  readonly identityPerDay?: Limit;
  /** Of a UTC day, in all sessions of the worker's host. */
  readonly workerPerDay?: Limit;
}

/** Of a million tokens. */
interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** By model. */
export type Prices = Readonly<Record<string, Price>>;

export const BUDGET_NAMES = {
  session: "session",
  identity: "identityPerDay",
  worker: "workerPerDay",
} as const satisfies Record<BudgetScope, keyof Budget>;

/** How much of a budget is used, from 0; 1 and more is all of it. A budget that is not set is never used. */
export function usedShare(budget: Budget, scope: BudgetScope, { tokens, money }: Spent): number {
  const limit = budget[BUDGET_NAMES[scope]] ?? {};
  return Math.max(
    limit.tokens === undefined ? 0 : tokens / limit.tokens,
    limit.money === undefined ? 0 : money / limit.money,
  );
}

/** What tokens of a model cost; 0 for a model without a price. */
export function costOf(usage: Usage, price: Price | undefined): number {
  if (!price) return 0;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const millionths =
    inputTokens * price.input +
    outputTokens * price.output +
    cacheReadTokens * price.cacheRead +
    cacheWriteTokens * price.cacheWrite;
  return millionths / 1_000_000;
}
