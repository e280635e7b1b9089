import { z } from "zod";
import { deleteMemories, listMemories } from "../../store/memory/memories.ts";
import type { RoomRoutes } from "../http-app.ts";
import { HttpError } from "../http-error.ts";
import { pathId } from "../zod-types.ts";

/**
 * `GET /memories`: what is remembered of the token's identity, in all rooms. `DELETE /memories/{id}` forgets one thing,
 * `DELETE /memories` everything.
 */
export const memoryRoutes: RoomRoutes = (app, { sql }) => {
  app.get("/memories", async ({ access: { identity } }) => listMemories(sql, { identity }));

  app.delete("/memories", async ({ access: { identity } }) => ({ forgotten: await deleteMemories(sql, { identity }) }));

  const schema = { params: z.object({ id: pathId }) };
  app.delete("/memories/:id", { schema }, async ({ access: { identity }, params }) => {
    if ((await deleteMemories(sql, { identity, memoryId: params.id })) > 0) return { forgotten: 1 };
    throw new HttpError(404, "There is no such memory");
  });
};
