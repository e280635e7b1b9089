/**
 * Thrown by a tool's `context.ask` if permission is denied; the message says why. If the tool does not catch it, the
 * call ends as `permission_denied`.
 */
export class PermissionDenied extends Error {
  override readonly name = "PermissionDenied";
}
