import type { ReactNode } from "react";
import { useUsageLog } from "../panels/developer/usage-log.tsx";

const SPENT = {
  session:
    "The budget for this conversation is used up, so the agent cannot answer. Start another conversation, or ask the operator to raise the budget.",
  identityPerDay: "Your budget for today is used up. Come back tomorrow (UTC), or ask the operator to raise it.",
} as const;

/** Tells the person that a budget is exhausted. The model is then no longer called. */
export function BudgetProblem(): ReactNode {
  const { usage } = useUsageLog();
  const spent = usage?.budgets.find(({ share = 0 }) => share >= 1);
  return spent && <p className="problem">{SPENT[spent.budget]}</p>;
}
