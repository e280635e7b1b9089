import type { Sql } from "../../store/database/pool.ts";
import { loadOpenPermissions, type PermissionRecord } from "../../store/permissions/load-permissions.ts";

/**
 * Returns a request, redacted for the reader, or `undefined` if the reader may not see it at all. The approver sees
 * everything. Others see what the tool's `stateDetail` allows. If it is `name`, they see only the tool's name, because
 * patterns and title would reveal the tool's arguments.
 */
export function redactPermission(identity: string, permission: PermissionRecord): PermissionRecord | undefined {
  const { participantIdentity, detail, toolName } = permission;
  if (participantIdentity === identity || detail === "full") return permission;
  if (detail === "off") return undefined;
  const title = `Use ${toolName}`;
  return { ...permission, title, pattern: [], metadata: { toolName }, message: null, editedInput: null };
}

/** Returns a session's open requests as this reader may see them. */
export async function loadOpenFor(
  identity: string,
  { sql, sessionId }: { readonly sql: Sql; readonly sessionId: string },
): Promise<readonly PermissionRecord[]> {
  const open = await loadOpenPermissions(sql, { sessionId });
  return open.flatMap((permission) => redactPermission(identity, permission) ?? []);
}
