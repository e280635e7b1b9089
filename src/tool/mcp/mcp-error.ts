import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";

/** What may be logged of a failure: never the server's own words, which may quote a participant. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  if (error instanceof StreamableHTTPError)
    return error.code !== undefined && error.code > 0 ? `HTTP ${error.code}` : "HTTP";
  if (error instanceof McpError) return MCP_REASONS[error.code] ?? `MCP error ${error.code}`;
  if (error.name === "TimeoutError") return "no answer in time";
  const code = codeOf(error) ?? codeOf(error.cause);
  return code ?? error.name;
}

const MCP_REASONS: Readonly<Record<number, string>> = {
  [ErrorCode.ConnectionClosed]: "connection closed",
  [ErrorCode.RequestTimeout]: "no answer in time",
};

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** What the model reads of a call that failed. An error that the server gave keeps its own words. */
export function callErrorText(server: string, error: unknown): string {
  if (error instanceof McpError && error.code === Number(ErrorCode.ConnectionClosed))
    return `MCP server "${server}" was lost during the call; its outcome is unknown`;
  if (error instanceof McpError) return error.message.replace(/^(?:MCP error -?\d+: )+/u, "") || "The tool failed";
  const isWire = error instanceof StreamableHTTPError || error instanceof TypeError;
  if (isWire) return `MCP server "${server}" could not be reached (${reasonOf(error)})`;
  return `MCP server "${server}" gave an answer that cannot be read`;
}
