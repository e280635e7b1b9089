import {
  addSpending,
  loadSpent,
  takeWarning,
  type BudgetScope,
  type NewSpending,
  type Spender,
  type Spent,
} from "../../store/spending/spending.ts";
import type { Sql } from "../../store/database/pool.ts";

/** Where the sums of what is spent are kept. They outlive the worker, and hold for all workers together. */
export interface SpendingStore {
  /** @throws {AppError} `unavailable` while the store is away */
  readonly add: (spending: NewSpending) => Promise<void>;
  /** @throws {AppError} `unavailable` */
  readonly load: (spender: Spender) => Promise<Readonly<Record<BudgetScope, Spent>>>;
  /** Whether to warn of this budget now: `true` once for a session's, once a day for any other. */
  readonly takeWarning: (spender: Spender, scope: BudgetScope) => Promise<boolean>;
}

export function createSpendingStore(sql: Sql): SpendingStore {
  return {
    add: (spending) => addSpending(sql, spending),
    load: (spender) => loadSpent(sql, spender),
    takeWarning: (spender, scope) => takeWarning(sql, spender, scope),
  };
}
