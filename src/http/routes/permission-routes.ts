import { z } from "zod";
import type { Sql } from "../../store/database/pool.ts";
import { extendPermission } from "../../store/permissions/extend-permission.ts";
import { hasSession, type SessionRecord } from "../../store/sessions/sessions.ts";
import { findRoomSession, hasId, type RoomAccess } from "../access/room-access.ts";
import type { RoomRoutes } from "../http-app.ts";
import { HttpError } from "../http-error.ts";
import { answerPermission, requireOpenPermission } from "../permissions/answer-permission.ts";
import { namedResponseBody } from "../permissions/permission-body.ts";
import { loadOpenFor } from "../permissions/redact-permission.ts";
import { showPermission } from "../permissions/show-permission.ts";
import { pathId } from "../zod-types.ts";

/**
 * `GET /session/{id}/permissions`: the open requests. `POST /session/{id}/permissions/{permissionId}`: the approver's
 * answer. These two also exist in opencode's API. `POST …/{permissionId}/extend`: the approver needs more time
 * (docs/permissions.md).
 */
export const permissionRoutes: RoomRoutes = (app, { sql, edits, permissionWaitMs: waitMs }) => {
  const list = { params: z.object({ id: pathId }) };
  app.get("/session/:id/permissions", { schema: list }, async ({ access, params }) => {
    const { id: sessionId } = await requireNamedSession(sql, access, params.id);
    const open = await loadOpenFor(access.identity, { sql, sessionId });
    return open.map(showPermission);
  });

  const answer = { params: z.object({ id: pathId, permissionId: pathId }), body: namedResponseBody };
  app.post("/session/:id/permissions/:permissionId", { schema: answer }, async ({ access, params, body }) => {
    const { id: sessionId, permissionId } = params;
    const { decision, named } = body;
    if (named.permissionId !== undefined && named.permissionId !== permissionId)
      throw new HttpError(400, "permissionId: expected the id in the path");
    if (named.sessionId !== undefined && named.sessionId !== sessionId)
      await requireNamedSession(sql, access, named.sessionId);
    await answerPermission({ sql, access, edits, answer: { permissionId, sessionId, decision, via: "http" } });
    return true;
  });

  const extend = { params: z.object({ id: pathId, permissionId: pathId }) };
  app.post("/session/:id/permissions/:permissionId/extend", { schema: extend }, async ({ access, params }) => {
    const { permissionId } = params;
    const named = { sql, access, permissionId, sessionId: params.id };
    const { sessionId } = await requireOpenPermission(named);
    const extended = await extendPermission(sql, { permissionId, sessionId, by: access.identity, waitMs });
    if (!extended) throw new HttpError(409, "The permission request has ended or cannot be extended any further");
    const { retryAfterMs } = extended;
    if (retryAfterMs === undefined) return extended;
    const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
    const headers = { "retry-after": String(seconds) };
    throw new HttpError(429, `The permission request was extended a moment ago: try again in ${seconds} s`, {
      headers,
    });
  });
};

/** Returns the session with this id, which must be the session of the token's room. */
async function requireNamedSession(sql: Sql, access: RoomAccess, id: string): Promise<SessionRecord> {
  const session = await findRoomSession(sql, access);
  if (session && hasId(session, id)) return session;
  if (await hasSession(sql, { id })) throw new HttpError(403, "The token is for another room");
  throw new HttpError(404, "There is no such session");
}
