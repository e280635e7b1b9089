import {
  addSpending,
  loadSpent,
  returnWarning,
  takeWarning,
  type BudgetScope,
  type NewSpending,
  type Spender,
  type Spent,
} from "../../store/spending/spending.ts";
import type { Sql } from "../../store/database/pool.ts";

/** Stores the total spending, which outlives the worker and is shared by all workers. */
export interface SpendingStore {
  /** @throws {AppError} `unavailable` while the store is unreachable */
  readonly add: (spending: NewSpending) => Promise<void>;
  /** @throws {AppError} `unavailable` */
  readonly load: (spender: Spender) => Promise<Readonly<Record<BudgetScope, Spent>>>;
  /** Whether to warn about this budget now: `true` once per session budget, once a day for any other. */
  readonly takeWarning: (spender: Spender, scope: BudgetScope) => Promise<boolean>;
  /** Makes a warning available again, because it was taken but not given. @throws {AppError} `unavailable` */
  readonly returnWarning: (spender: Spender, scope: BudgetScope) => Promise<void>;
}

export function createSpendingStore(sql: Sql): SpendingStore {
  return {
    add: (spending) => addSpending(sql, spending),
    load: (spender) => loadSpent(sql, spender),
    takeWarning: (spender, scope) => takeWarning(sql, spender, scope),
    returnWarning: (spender, scope) => returnWarning(sql, spender, scope),
  };
}
