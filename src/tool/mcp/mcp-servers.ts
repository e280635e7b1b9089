import type { Logger } from "pino";
import type { LiveTools, ServerTool } from "../server-tool.ts";
import type { McpServerConfig } from "./mcp-config.ts";
import { McpServer } from "./mcp-server.ts";
import { toolPrefix } from "./to-mcp-tool.ts";

interface McpServersOptions {
  readonly servers: Readonly<Record<string, McpServerConfig>>;
  /** The tools in the `tools/` folder. They take precedence over the servers' tools. */
  readonly own: ReadonlyMap<string, ServerTool>;
  readonly logger: Logger;
  /**
   * Called with the prefix of a server's tools whenever they have been listed and added to the map. `isLast` means that
   * all servers have now listed their tools.
   */
  readonly onListed?: (prefix: string, listed: { readonly isLast: boolean }) => void;
  /** How long a connection must last to count as a success. @defaultValue 10000 */
  readonly stableMs?: number;
}

export interface McpServers extends LiveTools {
  /** Our own tools and those of the servers, always up to date. */
  readonly tools: ReadonlyMap<string, ServerTool>;
  readonly replaceOwn: (own: ReadonlyMap<string, ServerTool>) => void;
  readonly close: () => Promise<void>;
}

/**
 * Starts connecting to all servers and returns at once. Tools appear in the map as servers list them. If tools of two
 * servers have the same name, the server that the config lists first wins. `close` closes all connections.
 */
export function connectMcpServers({ servers, own: first, logger, onListed, stableMs }: McpServersOptions): McpServers {
  let own = first;
  const tools = new Map(own);
  const warned = new Set<string>();
  const listed = new Set<string>();
  const listeners = new Set<() => void>();
  const notifyListeners = () => {
    for (const listener of listeners) listener();
  };
  const merge = () => {
    const before = [...tools.keys()].join();
    tools.clear();
    for (const [name, tool] of own) tools.set(name, tool);
    for (const tool of connections.flatMap((server) => server.tools)) {
      if (!tools.has(tool.name)) tools.set(tool.name, tool);
      else if (!warned.has(tool.name)) {
        warned.add(tool.name);
        const why = own.has(tool.name)
          ? "the tools folder has a tool with this name"
          : "another server has a tool with this name";
        logger.warn({ tool: tool.name, why }, "MCP tool ignored");
      }
    }
    return [...tools.keys()].join() !== before;
  };
  const onChanged = (name: string) => {
    if (merge()) notifyListeners();
    if (!connections.some((server) => server.name === name && !server.isDisconnected)) return;
    listed.add(name);
    onListed?.(toolPrefix(name), { isLast: listed.size === connections.length });
  };
  const connections = Object.entries(servers).map(
    ([name, config]) =>
      new McpServer({
        name,
        config,
        logger,
        onChanged: () => onChanged(name),
        ...(stableMs !== undefined && { stableMs }),
      }),
  );
  const replaceOwn = (now: McpServersOptions["own"]) => {
    own = now;
    merge();
    notifyListeners();
  };
  const close = async () => {
    await Promise.all(connections.map((server) => server.close()));
  };
  const follow = (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const prefixes = connections.map(({ name }) => toolPrefix(name));
  return { tools, prefixes, replaceOwn, onChanged: follow, close };
}
