import { z } from "zod";
import { loadWholeCall } from "../../store/turns/load-call.ts";
import { requireRoomSession } from "../access/room-access.ts";
import type { RoomRoutes } from "../http-app.ts";
import { HttpError } from "../http-error.ts";
import { pathId } from "../zod-types.ts";

/**
 * `GET /session/{id}/calls/{callId}`: one call with its complete arguments, logs, result and display, which events and
 * transcripts shorten or omit (docs/transcripts.md).
 */
export const callRoutes: RoomRoutes = (app, { sql }) => {
  const schema = { params: z.object({ id: pathId, callId: pathId }) };
  app.get("/session/:id/calls/:callId", { schema }, async ({ access, params }) => {
    const { id: sessionId } = await requireRoomSession(sql, access, params.id);
    const call = await loadWholeCall(sql, { sessionId, callId: params.callId });
    if (!call) throw new HttpError(404, "The session has no such call");
    return Object.fromEntries(Object.entries(call).filter(([, value]) => value !== null));
  });
};
