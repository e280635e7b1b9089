/** Names of tools that Anthropic runs, as the model's blocks have them. Some are switched on under another name. */
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
 * A tool's name as metrics show it. There is no end to the names that clients announce and models invent, and they may
 * be content: metrics count them as `_OTHER`, only spans and log lines show them.
 */
export function toolLabel(name: string, ownTools: { readonly has: (name: string) => boolean }): string {
  return ownTools.has(name) || ANTHROPIC_TOOLS.has(name) ? name : "_OTHER";
}

/** The codes that may become an `error.type`. A code that a client invents is counted as `_OTHER`. */
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
