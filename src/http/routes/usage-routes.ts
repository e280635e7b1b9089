import { z } from "zod";
import { BUDGET_NAMES, usedShare } from "../../session/spending/budget.ts";
import { loadSessionSpending, loadSpent } from "../../store/spending/spending.ts";
import { requireRoomSession } from "../access/room-access.ts";
import type { RoomRoutes } from "../http-app.ts";
import { pathId } from "../zod-types.ts";

/**
 * `GET /session/{id}/usage`: what the session in the token's room has spent, and how much of the session's and the
 * identity's budget is used. The worker's budget is not shown: only the operator may see what others spend.
 */
export const usageRoutes: RoomRoutes = (app, { sql, budget }) => {
  const schema = { params: z.object({ id: pathId }) };
  app.get("/session/:id/usage", { schema }, async ({ access, params }) => {
    const { id: sessionId } = await requireRoomSession(sql, access, params.id);
    const [models, spent] = await Promise.all([
      loadSessionSpending(sql, { sessionId }),
      loadSpent(sql, { sessionId, identity: access.identity, worker: "" }),
    ]);
    const budgets = (["session", "identity"] as const).map((scope) => {
      const limit = budget[BUDGET_NAMES[scope]];
      const used = spent[scope];
      return { budget: BUDGET_NAMES[scope], used, ...(limit && { limit, share: usedShare(budget, scope, used) }) };
    });
    return { models, budgets };
  });
};
