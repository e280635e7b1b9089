import type { SpendingStore } from "../../session/spending/spending-store.ts";
import { BUDGET_SCOPES, type BudgetScope, type Spender, type Spent } from "../../store/spending/spending.ts";

const NOTHING: Spent = { tokens: 0, money: 0 };

/** Stores spending in memory. Sums never reset, as if everything happened on one day. */
export class MemorySpending implements SpendingStore {
  readonly #spent = new Map<string, Spent>();
  readonly #warned = new Set<string>();

  readonly add: SpendingStore["add"] = async (spending) => {
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, money } = spending;
    const tokens = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
    for (const scope of BUDGET_SCOPES) {
      const before = this.#of(spending, scope);
      this.#spent.set(keyOf(spending, scope), { tokens: before.tokens + tokens, money: before.money + money });
    }
  };

  readonly load: SpendingStore["load"] = async (spender) => ({
    session: this.#of(spender, "session"),
    identity: this.#of(spender, "identity"),
    worker: this.#of(spender, "worker"),
  });

  readonly takeWarning: SpendingStore["takeWarning"] = async (spender, scope) => {
    const key = keyOf(spender, scope);
    const isDue = !this.#warned.has(key);
    this.#warned.add(key);
    return isDue;
  };

  readonly returnWarning: SpendingStore["returnWarning"] = async (spender, scope) => {
    this.#warned.delete(keyOf(spender, scope));
  };

  #of(spender: Spender, scope: BudgetScope): Spent {
    return this.#spent.get(keyOf(spender, scope)) ?? NOTHING;
  }
}

function keyOf({ sessionId, identity, worker }: Spender, scope: BudgetScope): string {
  return `${scope} ${{ session: sessionId, identity, worker }[scope]}`;
}
