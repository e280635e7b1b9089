import { z } from "zod";
import { inputText } from "../../conversation/turn-record.ts";
import { cleanText } from "../../lib/clean-json.ts";
import { deleteSession, type NotDeleted } from "../../store/removal/delete-session.ts";
import { listSessions } from "../../store/sessions/list-sessions.ts";
import { setTitle } from "../../store/sessions/session-titles.ts";
import { findRoomSession, requireSubscriber } from "../access/room-access.ts";
import type { RoomRoutes } from "../http-app.ts";
import { HttpError } from "../http-error.ts";
import { pathId } from "../zod-types.ts";

const MAX_SESSIONS = 100;
const MAX_EXCERPT = 200;
const MAX_TITLE = 200;

const titleBody = z.strictObject({
  title: z
    .string("expected a string")
    .max(MAX_TITLE, `expected at most ${MAX_TITLE} characters`)
    .transform((title) => cleanText(title).trim()),
});

const REFUSALS: Readonly<Record<NotDeleted, readonly [status: 404 | 409, message: string]>> = {
  missing: [404, "You have said nothing in such a session"],
  served: [409, "The session is still open: try again 20 seconds after everybody has left the room"],
  shared: [409, "Others have taken part in this session, so it is kept for them"],
};

/**
 * `GET /session`: the session of the token's room, or 204 before there is one. `GET /sessions`: the sessions in all
 * rooms in which the token's identity has spoken. The list contains only what that participant knows anyway. To read
 * what others said in one of these rooms, a caller needs a token for that room. `PATCH /sessions/{id}`: changes what the
 * identity calls one of them. `DELETE /sessions/{id}`: deletes its content, if nobody else has taken part in it.
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
    return sessions.map(({ firstInput, title, ...session }) => ({
      ...session,
      firstSaid: inputText(firstInput).slice(0, MAX_EXCERPT),
      ...(title !== null && { title }),
    }));
  });

  const params = z.object({ id: pathId });
  app.patch("/sessions/:id", { schema: { params, body: titleBody } }, async ({ access, params: { id }, body }) => {
    if (await setTitle(sql, { sessionId: id, identity: access.identity, ...body })) return true;
    throw new HttpError(...REFUSALS.missing);
  });

  app.delete("/sessions/:id", { schema: { params } }, async ({ access: { identity }, params: { id } }) => {
    const refused = await deleteSession(sql, { sessionId: id, identity });
    if (refused) throw new HttpError(...REFUSALS[refused]);
    return true;
  });
};
