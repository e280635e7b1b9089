/** The codes that may become an `error.type`: what a client invents is neither shown nor counted apart. */
const KNOWN_CODES: ReadonlySet<string> = new Set([
  "unknown_tool",
  "invalid_parameters",
  "execution_error",
  "timeout",
  "cancelled",
  "client_disconnected",
  "permission_denied",
  "result_too_large",
  "protocol_error",
  "not_run",
  "outcome_unknown",
]);

export function callErrorType(errorCode: string): string {
  return KNOWN_CODES.has(errorCode) ? errorCode : "_OTHER";
}
