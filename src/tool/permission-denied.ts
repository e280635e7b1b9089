/**
 * Thrown to a running tool that was not given the permission it asked for; the message says why. If the tool lets it
 * out, the call ends as `permission_denied`.
 */
export class PermissionDenied extends Error {
  override readonly name = "PermissionDenied";
}
