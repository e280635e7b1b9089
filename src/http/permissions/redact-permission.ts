import { type Sql } from "../../store/database/pool.ts";
import { loadOpenPermissions, type PermissionRecord } from "../../store/permissions/load-permissions.ts";

/**
 * A request as a reader may see it: whole for whom it asks; for others as far as its tool's `stateDetail` lets them,
 * and what it touches says what its arguments are. `undefined`: not at all.
 */
export function redactPermission(identity: string, permission: PermissionRecord): PermissionRecord | undefined {
  const { participantIdentity, detail, toolName } = permission;
  if (participantIdentity === identity || detail === "full") return permission;
  if (detail === "off") return undefined;
  const title = `Use ${toolName}`;
  return { ...permission, title, pattern: [], metadata: { toolName }, message: null, editedInput: null };
}

/** What waits for an answer in a session, as this reader may see it. */
export async function loadOpenFor(
  identity: string,
  { sql, sessionId }: { readonly sql: Sql; readonly sessionId: string },
): Promise<readonly PermissionRecord[]> {
  const open = await loadOpenPermissions(sql, { sessionId });
  return open.flatMap((permission) => redactPermission(identity, permission) ?? []);
}
