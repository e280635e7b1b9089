import { type EditGuard, checkEditedInput } from "../../session/permission/judge-call.ts";
import { type PermissionRecord, type PermissionWay, loadPermission } from "../../store/permissions/load-permissions.ts";
import { type Sql } from "../../store/database/pool.ts";
import { replyToPermission, type PermissionDecision } from "../../store/permissions/reply-to-permission.ts";
import { type SentDecision } from "./permission-body.ts";
import { type Refusal, type RoomAccess } from "../access/room-access.ts";
import { findRoomSession, hasId } from "../access/room-session.ts";

export interface PermissionAnswer {
  readonly permissionId: string;
  /** As the caller names it; absent where the route has none. */
  readonly sessionId?: string | undefined;
  readonly decision: SentDecision;
  readonly via: PermissionWay;
}

interface AnswerOptions {
  readonly sql: Sql;
  readonly access: RoomAccess;
  readonly edits: EditGuard;
  readonly answer: PermissionAnswer;
}

const UNKNOWN: Refusal = { status: 404, error: "There is no such permission" };
const TOO_LATE: Refusal = { status: 409, error: "It was answered before, or has expired" };

/**
 * Decides a permission for whoever holds the token. What it returns as decided is stored, and was decided by this answer.
 *
 * @throws {AppError} `unavailable`
 */
export async function answerPermission(options: AnswerOptions): Promise<PermissionRecord | Refusal> {
  const { sql, access, answer, edits } = options;
  const { permissionId, sessionId, via } = answer;
  const permission = await loadPermission(sql, { permissionId });
  if (!permission) return UNKNOWN;
  const session = await findRoomSession(sql, access);
  if (permission.sessionId !== session?.id) return { status: 403, error: "The token is for another room" };
  if (sessionId !== undefined && !hasId(session, sessionId)) return UNKNOWN;
  if (permission.participantIdentity !== access.identity)
    return { status: 403, error: "Another participant was asked" };
  if (permission.state !== "asked") return TOO_LATE;
  const decision = toDecision(permission, answer.decision, edits);
  if ("error" in decision) return decision;
  const decided = await replyToPermission(sql, {
    permissionId,
    sessionId: session.id,
    by: access.identity,
    via,
    decision,
  });
  if (typeof decided === "object") return decided;
  // The rest is checked above; only an answer that came first can be in the way.
  return TOO_LATE;
}

function toDecision(permission: PermissionRecord, sent: SentDecision, edits: EditGuard): PermissionDecision | Refusal {
  if (sent.kind === "reject") return sent;
  const { editedInput, ...approval } = sent;
  if (!editedInput) return approval;
  const edited = checkEditedInput(permission, editedInput, edits);
  return "error" in edited ? { status: 400, error: `editedInput: ${edited.error}` } : { ...approval, edited };
}
