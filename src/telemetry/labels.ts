/** Tools of Anthropic that go by another name than the one they are switched on with. */
const ANTHROPIC_TOOLS: ReadonlySet<string> = new Set([
  "web_search",
  "web_fetch",
  "code_execution",
  "bash_code_execution",
  "text_editor_code_execution",
  "tool_search_tool_regex",
  "tool_search_tool_bm25",
  "memory",
  "advisor",
]);

/**
 * A tool's name as metrics show it. What clients announce and models invent has no end and is somebody's own text: it
 * counts as `_OTHER`, and spans alone say its name.
 */
export function toolLabel(name: string, ownTools: { readonly has: (name: string) => boolean }): string {
  return ownTools.has(name) || ANTHROPIC_TOOLS.has(name) ? name : "_OTHER";
}

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
