import { z } from "zod";
import { deleteMemories, listMemories } from "../../store/memory/memories.ts";
import type { RoomRoutes } from "../http-app.ts";
import { HttpError } from "../http-error.ts";
import { pathId } from "../zod-types.ts";

/**
 * `GET /memories`: the memories of the token's identity, from all rooms. `DELETE /memories/{id}` deletes one, `DELETE
 * /memories` all.
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
