import { checkEditedInput, type EditGuard } from "../../session/permission/judge-call.ts";
import type { Sql } from "../../store/database/pool.ts";
import { loadPermission, type PermissionRecord, type PermissionWay } from "../../store/permissions/load-permissions.ts";
import { replyToPermission, type PermissionDecision } from "../../store/permissions/reply-to-permission.ts";
import { findRoomSession, hasId, type RoomAccess } from "../access/room-access.ts";
import { HttpError } from "../http-error.ts";
import type { SentDecision } from "./permission-body.ts";

interface ReceivedAnswer {
  readonly permissionId: string;
  /** The session id that the caller sent. Absent if the route has none. */
  readonly sessionId?: string | undefined;
  readonly decision: SentDecision;
  readonly via: PermissionWay;
}

interface AnswerOptions {
  readonly sql: Sql;
  readonly access: RoomAccess;
  readonly edits: EditGuard;
  readonly answer: ReceivedAnswer;
}

/**
 * Stores the decision of the token's identity about a permission request. Resolves once the decision is stored.
 *
 * @throws {HttpError} 400, 403, 404, 409
 * @throws {AppError} `unavailable`
 */
export async function answerPermission({ sql, access, edits, answer }: AnswerOptions): Promise<void> {
  const { permissionId, via } = answer;
  const permission = await requireOpenPermission({ sql, access, ...answer });
  const { sessionId } = permission;
  const decision = toDecision(permission, answer.decision, edits);
  const by = access.identity;
  const decided = await replyToPermission(sql, { permissionId, sessionId, by, via, decision });
  // Everything else was checked above, so another answer arrived first or the request has ended.
  if (typeof decided !== "object") throw tooLate();
}

interface NamedPermission {
  readonly sql: Sql;
  readonly access: RoomAccess;
  readonly permissionId: string;
  /** The session id that the caller sent. Absent if the route has none. */
  readonly sessionId?: string | undefined;
}

/** Returns an open request to the token's identity in the token's room. @throws {HttpError} 403, 404, 409 */
export async function requireOpenPermission(named: NamedPermission): Promise<PermissionRecord> {
  const { sql, access, permissionId, sessionId } = named;
  const permission = await loadPermission(sql, { permissionId });
  if (!permission) throw unknownPermission(permissionId);
  const session = await findRoomSession(sql, access);
  if (permission.sessionId !== session?.id) throw new HttpError(403, "The token is for another room");
  if (sessionId !== undefined && !hasId(session, sessionId)) throw unknownPermission(permissionId);
  if (permission.participantIdentity !== access.identity)
    throw new HttpError(403, "The permission request is for another participant");
  if (permission.state !== "asked") throw tooLate();
  return permission;
}

function toDecision(permission: PermissionRecord, sent: SentDecision, edits: EditGuard): PermissionDecision {
  if (sent.kind === "reject") return sent;
  const { editedInput, ...approval } = sent;
  if (!editedInput) return approval;
  const edited = checkEditedInput(permission, editedInput, edits);
  if ("error" in edited) throw new HttpError(400, `editedInput: ${edited.error}`);
  return { ...approval, edited };
}

/**
 * Includes the fields by which opencode's clients recognize this error, because those clients use this route as well.
 */
function unknownPermission(requestID: string): HttpError {
  const message = "There is no such permission request";
  return new HttpError(404, message, { details: { _tag: "PermissionNotFoundError", requestID, message } });
}

function tooLate(): HttpError {
  return new HttpError(409, "The permission request is closed");
}
