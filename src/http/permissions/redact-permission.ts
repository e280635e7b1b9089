import type { Sql } from "../../store/database/pool.ts";
import { loadOpenPermissions, type PermissionRecord } from "../../store/permissions/load-permissions.ts";

/**
 * A request as a reader may see it; `undefined` if not at all. The approver sees all of it; others see what the tool's
 * `stateDetail` allows. With `name` that is the tool's name alone, because patterns and title would tell its arguments.
 */
export function redactPermission(identity: string, permission: PermissionRecord): PermissionRecord | undefined {
  const { participantIdentity, detail, toolName } = permission;
  if (participantIdentity === identity || detail === "full") return permission;
  if (detail === "off") return undefined;
  const title = `Use ${toolName}`;
  return { ...permission, title, pattern: [], metadata: { toolName }, message: null, editedInput: null };
}

/** A session's open requests, as this reader may see them. */
export async function loadOpenFor(
  identity: string,
  { sql, sessionId }: { readonly sql: Sql; readonly sessionId: string },
): Promise<readonly PermissionRecord[]> {
  const open = await loadOpenPermissions(sql, { sessionId });
  return open.flatMap((permission) => redactPermission(identity, permission) ?? []);
}
