/**
 * Names of tools that Anthropic runs, as they appear in the model's blocks. Some are enabled under a different name.
 */
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
 * Returns a tool's name for metrics. Clients and models can invent any number of names, which may quote the
 * conversation, so metrics count these as `_OTHER`. Only spans and log lines show them.
 */
export function toolLabel(name: string, ownTools: { readonly has: (name: string) => boolean }): string {
  return ownTools.has(name) || ANTHROPIC_TOOLS.has(name) ? name : "_OTHER";
}

/** The codes that may become an `error.type`. A code that a client made up is counted as `_OTHER`. */
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
