import type { ReactNode } from "react";
import { useUsageLog } from "../panels/developer/usage-log.tsx";
import { useWords } from "../shared/words/words.ts";

/** Tells the person that a budget is exhausted. The model is then no longer called. */
export function BudgetProblem(): ReactNode {
  const { conversationBudget, dailyBudget } = useWords().problems;
  const { usage } = useUsageLog();
  const spent = usage?.budgets.find(({ share = 0 }) => share >= 1);
  return spent && <p className="problem">{spent.budget === "session" ? conversationBudget : dailyBudget}</p>;
}
