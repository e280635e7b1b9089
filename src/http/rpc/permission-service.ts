import { Code, ConnectError, type ConnectRouter, type HandlerContext } from "@connectrpc/connect";
import { type FastifyBaseLogger } from "fastify";
import { cleanText } from "../../lib/clean-json.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { type EditGuard } from "../../session/permission/judge-call.ts";
import { type Sql } from "../../store/database/pool.ts";
import { answerPermission } from "../permissions/answer-permission.ts";
import { PermissionService, type PermissionResponse } from "./generated/opencode/tool_pb.ts";
import { parseResponseBody, type SentDecision } from "../permissions/permission-body.ts";
import { toRefusal } from "../access/refuse.ts";
import { checkRoomToken, type LivekitKeys, type Refusal } from "../access/room-access.ts";

interface ServiceOptions {
  readonly livekit: LivekitKeys;
  readonly sql: Sql;
  readonly logger: Pick<FastifyBaseLogger, "error">;
}

const MAX_REQUEST_BYTES = 64 * 1024;
/** spec/004's message has no field for edited arguments. */
const NO_EDITS: EditGuard = { serverTools: new Map(), rules: [] };

const CODES: Readonly<Record<Refusal["status"], Code>> = {
  400: Code.InvalidArgument,
  401: Code.Unauthenticated,
  403: Code.PermissionDenied,
  404: Code.NotFound,
  409: Code.FailedPrecondition,
  429: Code.ResourceExhausted,
  503: Code.Unavailable,
};

/** spec/004's `PermissionService`, for whichever server it is put on. An empty answer means that the decision is stored. */
export function permissionService({ livekit, sql, logger }: ServiceOptions) {
  const respond = async (
    request: PermissionResponse,
    { requestHeader }: HandlerContext,
  ): Promise<Refusal | undefined> => {
    const headers = { authorization: requestHeader.get("authorization") ?? undefined };
    const access = await checkRoomToken({ headers, query: {} }, livekit);
    if (!("room" in access)) return access;
    const decision = parseRequest(request);
    if ("error" in decision) return decision;
    const permissionId = cleanText(request.permissionId);
    const sessionId = cleanText(request.sessionId) || undefined;
    const answer = { permissionId, sessionId, decision, via: "rpc" as const };
    const result = await answerPermission({ sql, access, answer, edits: NO_EDITS }).catch(toRefusal);
    return "error" in result ? result : undefined;
  };
  return (router: ConnectRouter) => {
    const respondToPermission = async (request: PermissionResponse, context: HandlerContext) => {
      const refusal = await respond(request, context).catch((error: unknown) => {
        logger.error({ error, method: context.method.name }, "request failed");
        throw new ConnectError("Internal error", Code.Internal);
      });
      if (refusal) throw new ConnectError(refusal.error, CODES[refusal.status]);
      return {};
    };
    router.service(PermissionService, { respondToPermission }, { readMaxBytes: MAX_REQUEST_BYTES });
  };
}

/** Fields are named as in the proto. Proto3 cannot tell an empty session from none: that of the token's room is meant. */
function parseRequest({ sessionId, permissionId, response }: PermissionResponse): SentDecision | Refusal {
  if (permissionId === "") return { status: 400, error: "permission_id: expected an id" };
  for (const [field, id] of Object.entries({ session_id: sessionId, permission_id: permissionId }))
    if (id.length > LIMITS.idLength)
      return { status: 400, error: `${field}: expected at most ${LIMITS.idLength} characters` };
  return parseResponseBody({ response });
}
