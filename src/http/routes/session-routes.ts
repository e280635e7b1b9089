import { inputText } from "../../conversation/turn-record.ts";
import { listSessions } from "../../store/sessions/list-sessions.ts";
import { findRoomSession, requireSubscriber } from "../access/room-access.ts";
import type { RoomRoutes } from "../http-app.ts";

const MAX_SESSIONS = 100;
const MAX_EXCERPT = 200;

/**
 * `GET /session`: the session of the token's room, or 204 before there is one. `GET /sessions`: the sessions in all
 * rooms in which the token's identity has spoken. The list contains only what that participant knows anyway. To read
 * what others said in one of these rooms, a caller needs a token for that room.
 */
export const sessionRoutes: RoomRoutes = (app, { sql }) => {
  app.get("/session", async ({ access }, reply) => {
    requireSubscriber(access);
    const session = await findRoomSession(sql, access);
    // Having no session is not an error: every conversation begins this way, and a browser's console reports each 404
    // as an error.
    if (!session) return reply.code(204).send();
    const { id, conversationId, room } = session;
    return { id, conversationId, room };
  });

  app.get("/sessions", async ({ access: { identity } }) => {
    const sessions = await listSessions(sql, { identity, limit: MAX_SESSIONS });
    return sessions.map(({ firstInput, ...session }) => ({
      ...session,
      firstSaid: inputText(firstInput).slice(0, MAX_EXCERPT),
    }));
  });
};
