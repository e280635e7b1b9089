import { checkEditedInput } from "../session/check-edited-input.ts";
import { loadPermission } from "../store/load-permission.ts";
import { type PermissionRecord, type PermissionWay } from "../store/permission-record.ts";
import { type Sql } from "../store/pool.ts";
import { replyToPermission, type PermissionDecision } from "../store/reply-to-permission.ts";
import { type Refusal, type RoomAccess } from "./room-access.ts";
import { findRoomSession, hasId } from "./room-session.ts";

export interface PermissionAnswer {
  readonly permissionId: string;
  /** As the caller names it; absent where the route has none. */
  readonly sessionId?: string | undefined;
  readonly decision: PermissionDecision;
  readonly via: PermissionWay;
}

interface AnswerOptions {
  readonly sql: Sql;
  readonly access: RoomAccess;
  readonly answer: PermissionAnswer;
}

const UNKNOWN: Refusal = { status: 404, error: "There is no such permission" };

/**
 * Decides a permission for whoever holds the token. What it returns as decided is stored, and was decided by this answer.
 *
 * @throws {AppError} `unavailable`
 */
export async function answerPermission({ sql, access, answer }: AnswerOptions): Promise<PermissionRecord | Refusal> {
  const { permissionId, sessionId, decision, via } = answer;
  const permission = await loadPermission(sql, { permissionId });
  if (!permission) return UNKNOWN;
  const session = await findRoomSession(sql, access);
  if (permission.sessionId !== session?.id) return { status: 403, error: "The token is for another room" };
  if (sessionId !== undefined && !hasId(session, sessionId)) return UNKNOWN;
  if (permission.participantIdentity !== access.identity)
    return { status: 403, error: "Another participant was asked" };
  const edited = decision.kind === "approve" ? decision.editedInput : undefined;
  const problem = edited && permission.state === "asked" ? checkEditedInput(permission, edited) : undefined;
  if (problem !== undefined) return { status: 400, error: `editedInput: ${problem}` };
  const decided = await replyToPermission(sql, {
    permissionId,
    sessionId: session.id,
    by: access.identity,
    via,
    decision,
  });
  if (typeof decided === "object") return decided;
  // The rest is checked above; only an answer that came first can be in the way.
  return { status: 409, error: "It was answered before, or has expired" };
}
