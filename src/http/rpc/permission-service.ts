import { Code, ConnectError, type ConnectRouter, createContextKey, type HandlerContext } from "@connectrpc/connect";
import type { FastifyBaseLogger } from "fastify";
import { cleanText } from "../../lib/clean-json.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { EditGuard } from "../../session/permission/judge-call.ts";
import type { Sql } from "../../store/database/pool.ts";
import { answerPermission } from "../permissions/answer-permission.ts";
import { PermissionService, type PermissionResponse } from "./generated/opencode/tool_pb.ts";
import { responseBody, type SentDecision } from "../permissions/permission-body.ts";
import { checkRoomToken, type RoomAccess, type TokenKeys } from "../access/room-access.ts";
import { HttpError, toHttpError } from "../http-error.ts";
import { parseOrRefuse } from "../zod-types.ts";

interface ServiceOptions {
  readonly livekit: TokenKeys;
  readonly sql: Sql;
  readonly logger: Pick<FastifyBaseLogger, "error">;
}

/** Enough for two ids in JSON with every character escaped. */
const MAX_REQUEST_BYTES = 4 * 1024;
/** Allows no edited arguments, because the message in proto/opencode/tool.proto has no field for them. */
const NO_EDITS: EditGuard = { serverTools: new Map(), rules: [] };

/** Set by `requestGate`. The default allows nothing, because no room has an empty name. */
const ACCESS = createContextKey<RoomAccess>({
  room: "",
  identity: "",
  maySubscribe: false,
  isAdmin: false,
  expiresAt: 0,
});

const CODES: Readonly<Record<HttpError["statusCode"], Code>> = {
  400: Code.InvalidArgument,
  401: Code.Unauthenticated,
  403: Code.PermissionDenied,
  404: Code.NotFound,
  409: Code.FailedPrecondition,
  429: Code.ResourceExhausted,
  503: Code.Unavailable,
};

/**
 * Returns the `PermissionService` of proto/opencode/tool.proto, for HTTP and gRPC. An empty response means that the
 * decision is stored.
 */
export function permissionService({ livekit, sql, logger }: ServiceOptions) {
  const fail = (error: unknown, { method }: HandlerContext): never => {
    const known = toHttpError(error);
    if (known) throw new ConnectError(known.message, CODES[known.statusCode]);
    logger.error({ error, method: method.name }, "request failed");
    throw new ConnectError("Internal error", Code.Internal);
  };
  // Runs before any of the request's body is read, so a caller without a token cannot fill the memory with bodies.
  const requestGate = async (context: HandlerContext) => {
    const headers = { authorization: context.requestHeader.get("authorization") ?? undefined };
    const access = await checkRoomToken({ headers, query: {} }, livekit).catch((error: unknown) =>
      fail(error, context),
    );
    context.values.set(ACCESS, access);
  };
  const respond = async (request: PermissionResponse, { values }: HandlerContext): Promise<void> => {
    const decision = parseRequest(request);
    const permissionId = cleanText(request.permissionId);
    const sessionId = cleanText(request.sessionId) || undefined;
    const answer = { permissionId, sessionId, decision, via: "rpc" as const };
    await answerPermission({ sql, access: values.get(ACCESS), answer, edits: NO_EDITS });
  };
  return (router: ConnectRouter) => {
    const respondToPermission = async (request: PermissionResponse, context: HandlerContext) => {
      await respond(request, context).catch((error: unknown) => fail(error, context));
      return {};
    };
    router.service(PermissionService, { respondToPermission }, { readMaxBytes: MAX_REQUEST_BYTES, requestGate });
  };
}

/**
 * Checks a request. Errors name its fields as in the proto. In proto3, an empty session id means that there is none;
 * the token's room then determines the session.
 */
function parseRequest({ sessionId, permissionId, response }: PermissionResponse): SentDecision {
  if (permissionId === "") throw new HttpError(400, "permission_id: expected an id");
  for (const [field, id] of Object.entries({ session_id: sessionId, permission_id: permissionId }))
    if (id.length > LIMITS.idLength)
      throw new HttpError(400, `${field}: expected at most ${LIMITS.idLength} characters`);
  return parseOrRefuse(responseBody, { response });
}
