import type { ReactNode } from "react";
import { useUsageLog } from "../panels/usage-log.tsx";

const SPENT = {
  session: "The budget of this talk is spent: it gets no more answers. Leave it and begin another, or have it raised.",
  identityPerDay: "Your budget of today is spent. Come back tomorrow (UTC), or have it raised.",
} as const;

/** Shown when the model is no longer called because a budget is exceeded. */
export function BudgetProblem(): ReactNode {
  const { usage } = useUsageLog();
  const spent = usage?.budgets.find(({ share = 0 }) => share >= 1);
  return spent && <p className="problem">{SPENT[spent.budget]}</p>;
}
