import { requireRoomSession } from "../access/room-access.ts";
import type { RoomRoutes } from "../http-app.ts";

/** `GET /session`: the session of the token's room. */
export const sessionRoutes: RoomRoutes = (app, { sql }) => {
  app.get("/session", async ({ access }) => {
    const { id, conversationId, room } = await requireRoomSession(sql, access);
    return { id, conversationId, room };
  });
};
