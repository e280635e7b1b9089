/**
 * Thrown to a running tool if the permission that it asked for is denied; the message says why. If the tool does not
 * catch it, the call ends as `permission_denied`.
 */
export class PermissionDenied extends Error {
  override readonly name = "PermissionDenied";
}
