import { saidIn } from "../../conversation/turn-record.ts";
import { listTalks } from "../../store/sessions/list-talks.ts";
import { findRoomSession, requireSubscriber } from "../access/room-access.ts";
import type { RoomRoutes } from "../http-app.ts";

const MAX_TALKS = 100;
const MAX_SAID = 200;

/**
 * `GET /session`: the session of the token's room, or 204 before there is one. `GET /sessions`: the sessions in all
 * rooms in which the token's identity has spoken. The list contains only what that participant knows anyway. Reading
 * what others said requires a token for that room.
 */
export const sessionRoutes: RoomRoutes = (app, { sql }) => {
  app.get("/session", async ({ access }, reply) => {
    requireSubscriber(access);
    const session = await findRoomSession(sql, access);
    // Not an error: every conversation begins this way, and a browser's console reports each 404 as an error.
    if (!session) return reply.code(204).send();
    const { id, conversationId, room } = session;
    return { id, conversationId, room };
  });

  app.get("/sessions", async ({ access: { identity } }) => {
    const talks = await listTalks(sql, { identity, limit: MAX_TALKS });
    return talks.map(({ firstInput, ...talk }) => ({ ...talk, firstSaid: saidIn(firstInput).slice(0, MAX_SAID) }));
  });
};
