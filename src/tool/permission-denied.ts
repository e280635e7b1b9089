/**
 * A running tool was not given the permission that it asked for; the message says why. A call that lets it out ends as
 * `permission_denied`.
 */
export class PermissionDenied extends Error {
  override readonly name = "PermissionDenied";
}
