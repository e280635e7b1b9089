import { Connection, reasonOf } from "../../tool/mcp/connection.ts";
import type { McpServerConfig } from "../../tool/mcp/mcp-config.ts";
import { listTools } from "../../tool/mcp/to-mcp-tool.ts";
import type { Config } from "../../worker/config.ts";
import { type Finding, missing, ok } from "./finding.ts";

const WITHIN_MS = 10_000;
const MAX_STDERR_LENGTH = 500;

/** Connects to each configured MCP server and lists its tools. */
export async function checkMcpServers({ mcpServers }: Pick<Config, "mcpServers">): Promise<Finding[]> {
  return Promise.all(Object.entries(mcpServers).map(([name, config]) => checkOne(name, config)));
}

async function checkOne(name: string, config: McpServerConfig): Promise<Finding> {
  const timeoutMs = Math.min(config.timeoutMs, WITHIN_MS);
  let said = "";
  try {
    const connection = await Connection.open({
      config: { ...config, timeoutMs },
      signal: AbortSignal.timeout(timeoutMs),
      onListChanged: () => {},
      onStderr: (text) => (said = `${said}${text}`.slice(-MAX_STDERR_LENGTH)),
    });
    try {
      const tools = await listTools(connection.client, { ...config, timeoutMs });
      return ok(`MCP server ${name}: ${tools.length} tools`);
    } finally {
      await connection.close();
    }
  } catch (error) {
    const words = said.trim() === "" ? "" : `. On stderr:\n${said.trim()}`;
    return missing(`MCP server ${name}: ${reasonOf(error)}${words}`, `start it, or correct mcpServers.${name}`);
  }
}
