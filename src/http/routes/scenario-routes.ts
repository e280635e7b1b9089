import { z } from "zod";
import { writeScenario } from "../../scenario/write-scenario.ts";
import { requireRoomSession } from "../access/room-access.ts";
import type { RoomRoutes } from "../http-app.ts";
import { HttpError } from "../http-error.ts";
import { pathId } from "../zod-types.ts";

/** `GET /session/{id}/scenario`: the conversation in the token's room as a test in YAML (docs/testing.md). */
export const scenarioRoutes: RoomRoutes = (app, { sql, edits }) => {
  const schema = { params: z.object({ id: pathId }) };
  app.get("/session/:id/scenario", { schema }, async ({ access, params }, reply) => {
    const { id: sessionId } = await requireRoomSession(sql, access, params.id);
    const written = await writeScenario(sql, { sessionId, room: access.room, tools: edits.serverTools });
    if ("why" in written) throw new HttpError(409, `This session cannot be turned into a test: ${written.why}`);
    return reply.type("application/yaml; charset=utf-8").send(written.yaml);
  });
};
