import { pino } from "pino";
import { vi } from "vitest";
import { type McpServerConfig, mcpServersSchema } from "../../../src/tool/mcp/mcp-config.ts";
import { connectMcpServers, type McpServers } from "../../../src/tool/mcp/mcp-servers.ts";
import type { ServerTool } from "../../../src/tool/server-tool.ts";
import { MemoryPorts } from "../memory-ports.ts";

export const STDIO_SERVER = new URL("../../fixtures/mcp/stdio-server.ts", import.meta.url).pathname;
export const SILENT_SERVER = new URL("../../fixtures/mcp/silent-server.ts", import.meta.url).pathname;

/** Connects to the servers in a config, in a session that keeps its calls in memory. */
export class McpBench implements AsyncDisposable {
  readonly servers: McpServers;
  readonly ports: MemoryPorts;
  readonly logged: Record<string, unknown>[] = [];
  /** One entry each time that a server has listed its tools: the prefix of these tools. */
  readonly listed: string[] = [];
  /** One entry for each entry in `listed`: whether all servers had listed their tools by then. */
  readonly areAllListed: boolean[] = [];

  constructor(config: Parameters<typeof mcpServersSchema.parse>[0], own: Record<string, ServerTool> = {}) {
    const write = (line: string) => void this.logged.push(JSON.parse(line) as Record<string, unknown>);
    const logger = pino({ level: "trace", base: null, timestamp: false }, { write });
    const servers: Record<string, McpServerConfig> = mcpServersSchema.parse(config);
    this.servers = connectMcpServers({
      servers,
      own: new Map(Object.entries(own)),
      logger,
      onListed: (prefix, { isLast }) => {
        this.listed.push(prefix);
        this.areAllListed.push(isLast);
      },
      stableMs: 0,
    });
    this.ports = Object.assign(new MemoryPorts(), { serverTools: this.servers.tools });
  }

  get names(): string[] {
    return [...this.servers.tools.values()].filter((tool) => tool.isDisconnected?.() !== true).map(({ name }) => name);
  }

  async until(...names: readonly string[]): Promise<void> {
    const areThere = () => names.every((name) => this.names.includes(name));
    await vi.waitUntil(areThere, { timeout: 10_000 });
  }

  warnings(): Record<string, unknown>[] {
    return this.logged.filter(({ level }) => level === 40);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.servers.close();
  }
}
