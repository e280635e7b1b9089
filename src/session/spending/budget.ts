import type { Usage } from "../../llm/model-event.ts";
import type { BudgetScope, Spent } from "../../store/spending/spending.ts";

/** A budget is used up when either number is reached. */
interface Limit {
  /** The sum of all tokens: input, output, read from the cache and written to it. */
  readonly tokens?: number;
  /** In the currency of the prices. */
  readonly money?: number;
}

export interface Budget {
  readonly session?: Limit;
  /** For one identity and UTC day, across all sessions. */
  readonly identityPerDay?: Limit;
  /** For one UTC day, across all sessions on the worker's machine. */
  readonly workerPerDay?: Limit;
}

/** The price of a million tokens. */
interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** Prices by model. */
export type Prices = Readonly<Record<string, Price>>;

export const BUDGET_NAMES = {
  session: "session",
  identity: "identityPerDay",
  worker: "workerPerDay",
} as const satisfies Record<BudgetScope, keyof Budget>;

/** Returns the used share of a budget: 1 or more means used up, 0 if the budget is not set. */
export function usedShare(budget: Budget, scope: BudgetScope, { tokens, money }: Spent): number {
  const limit = budget[BUDGET_NAMES[scope]] ?? {};
  return Math.max(
    limit.tokens === undefined ? 0 : tokens / limit.tokens,
    limit.money === undefined ? 0 : money / limit.money,
  );
}

/** Returns the cost of a model's tokens; 0 for a model without a price. */
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
