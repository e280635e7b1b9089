import { type FastifyInstance } from "fastify";
import { type EditGuard } from "../../session/permission/judge-call.ts";
import { type SessionRecord, hasSession } from "../../store/sessions/sessions.ts";
import { loadOpenPermissions } from "../../store/permissions/load-permissions.ts";
import { type Sql } from "../../store/database/pool.ts";
import { answerPermission } from "../permissions/answer-permission.ts";
import { parseResponseBody, toNotFoundError } from "../permissions/permission-body.ts";
import { permissionFor } from "../permissions/redact-permission.ts";
import { refuse, refuseWith, toRefusal } from "../access/refuse.ts";
import { type LivekitKeys, type Refusal, type RoomAccess } from "../access/room-access.ts";
import { roomAccess, roomGuard } from "../access/room-guard.ts";
import { findRoomSession, hasId } from "../access/room-session.ts";
import { showPermission } from "../permissions/show-permission.ts";

export interface PermissionRouteOptions {
  readonly livekit: LivekitKeys;
  readonly sql: Sql;
  readonly edits: EditGuard;
}

interface SessionParams {
  readonly id: string;
}

interface PermissionParams extends SessionParams {
  readonly permissionId: string;
}

/**
 * `GET /session/{id}/permissions`: what waits for an answer. `POST /session/{id}/permissions/{permissionId}`: the answer
 * of whoever was asked; the shape is opencode's, too (docs/permissions.md).
 */
export function permissionRoutes(app: FastifyInstance, { livekit, sql, edits }: PermissionRouteOptions): void {
  const guard = roomGuard(livekit);

  app.get<{ Params: SessionParams }>("/session/:id/permissions", guard, async (request, reply) => {
    const access = roomAccess(request);
    const open = await loadOpen(sql, access, request.params.id).catch(toRefusal);
    if ("error" in open) return refuse(reply, open);
    return reply.header("cache-control", "no-store").send(open.permissions.map(showPermission));
  });

  app.post<{ Params: PermissionParams }>("/session/:id/permissions/:permissionId", guard, async (request, reply) => {
    const { id: sessionId, permissionId } = request.params;
    const access = roomAccess(request);
    const decision = parseResponseBody(request.body);
    if ("error" in decision) return refuse(reply, decision);
    const answer = { permissionId, sessionId, decision, via: "http" as const };
    const result = await answerPermission({ sql, access, edits, answer }).catch(toRefusal);
    if (!("error" in result)) return reply.header("cache-control", "no-store").send(true);
    if (result.status !== 404) return refuse(reply, result);
    return refuseWith(reply, result, { error: result.error, ...toNotFoundError(permissionId, result) });
  });
}

async function loadOpen(sql: Sql, access: RoomAccess, id: string) {
  const session = await findNamedSession(sql, access, id);
  if ("error" in session) return session;
  const open = await loadOpenPermissions(sql, { sessionId: session.id });
  return { permissions: open.flatMap((permission) => permissionFor(access.identity, permission) ?? []) };
}

/** The session that the caller names, which must be the one of the token's room. */
async function findNamedSession(sql: Sql, access: RoomAccess, id: string): Promise<SessionRecord | Refusal> {
  const session = await findRoomSession(sql, access);
  if (session && hasId(session, id)) return session;
  if (await hasSession(sql, { id })) return { status: 403, error: "The token is for another room" };
  return { status: 404, error: "There is no such session" };
}
