import { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { type PermissionRecord, loadOpenPermissions } from "../../store/permissions/load-permissions.ts";
import { type Sql } from "../../store/database/pool.ts";
import { answerPermission } from "../permissions/answer-permission.ts";
import { toOpencodeError } from "./opencode-errors.ts";
import { toOpencodePermission } from "./opencode-events.ts";
import { parseReplyBody } from "../permissions/permission-body.ts";
import { permissionFor } from "../permissions/redact-permission.ts";
import { type PermissionRouteOptions } from "../routes/permission-routes.ts";
import { refuseWith, toRefusal } from "../access/refuse.ts";
import { type Refusal, type RoomAccess } from "../access/room-access.ts";
import { roomAccess, roomGuard } from "../access/room-guard.ts";
import { findRoomSession } from "../access/room-session.ts";

interface RequestParams {
  readonly sessionID?: string;
  readonly requestID: string;
}

/** The permission routes of opencode's own API that its clients use, within the token's room. */
export function opencodeRoutes(app: FastifyInstance, { livekit, sql, edits }: PermissionRouteOptions): void {
  const guard = roomGuard(livekit, (reply, refusal, { params }) =>
    refuseAs(reply, (params as Partial<RequestParams>).requestID ?? "", refusal),
  );
  const answer = async (request: FastifyRequest<{ Params: RequestParams }>): Promise<PermissionRecord | Refusal> => {
    const access = roomAccess(request);
    const decision = parseReplyBody(request.body);
    if ("error" in decision) return decision;
    const { sessionID: sessionId, requestID: permissionId } = request.params;
    const said = { permissionId, sessionId, decision, via: "http" as const };
    return answerPermission({ sql, access, edits, answer: said }).catch(toRefusal);
  };

  app.get("/permission", guard, async (request, reply) => {
    const open = await loadOfRoom(sql, roomAccess(request)).catch(toRefusal);
    if ("error" in open) return refuseAs(reply, "", open);
    return reply.header("cache-control", "no-store").send(open.map(toOpencodePermission));
  });

  app.post<{ Params: RequestParams }>("/permission/:requestID/reply", guard, async (request, reply) => {
    const result = await answer(request);
    if ("error" in result) return refuseAs(reply, request.params.requestID, result);
    return reply.header("cache-control", "no-store").send(true);
  });

  app.post<{ Params: RequestParams }>(
    "/api/session/:sessionID/permission/:requestID/reply",
    guard,
    async (request, reply) => {
      const result = await answer(request);
      if ("error" in result) return refuseAs(reply, request.params.requestID, result);
      return reply.code(204).header("cache-control", "no-store").send();
    },
  );
}

async function loadOfRoom(sql: Sql, access: RoomAccess): Promise<readonly PermissionRecord[]> {
  const session = await findRoomSession(sql, access);
  const open = session ? await loadOpenPermissions(sql, { sessionId: session.id }) : [];
  return open.flatMap((permission) => permissionFor(access.identity, permission) ?? []);
}

function refuseAs(reply: FastifyReply, requestID: string, refusal: Refusal): FastifyReply {
  return refuseWith(reply, refusal, toOpencodeError(requestID, refusal));
}
