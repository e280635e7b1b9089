import { setImmediate as nextTick, setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import pRetry from "p-retry";
import { abortable, unawaited } from "../../lib/abortable.ts";
import type { ToolContext } from "../define-tool.ts";
import type { ServerTool } from "../server-tool.ts";
import { UnknownSessionError, callTool } from "./call-tool.ts";
import { Connection, reasonOf } from "./connection.ts";
import { MAX_TOOLS, listTools, listedName, toMcpTool } from "./to-mcp-tool.ts";
import type { McpServerConfig } from "./mcp-config.ts";

const BACKOFF = { minTimeout: 500, maxTimeout: 30_000, factor: 2, randomize: true };
/**
 * How long a connection must last. If it ends sooner, it counts as a failed attempt, so that the pauses grow if a
 * server keeps crashing.
 */
const STABLE_MS = 10_000;
/** The minimum time between two listings of a server that keeps reporting changes. */
const LIST_GAP_MS = 250;
/**
 * The maximum size of one server's tool list, in characters. It is limited because each schema takes time to compile.
 */
const MAX_TOTAL_LENGTH = 524_288;
const MAX_STDERR_LENGTH = 500;

interface McpServerOptions {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly logger: Logger;
  /** Called when `tools` has changed, or when the server was connected or lost. */
  readonly onChanged: () => void;
  /** How long a connection must last to count as a success. @defaultValue 10000 */
  readonly stableMs?: number;
}

/**
 * One configured MCP server. Connects, and reconnects until `close`. A failing server never makes this class throw,
 * except in a call.
 */
export class McpServer {
  readonly name: string;
  /** The tools as last listed. They stay while the server is disconnected; calls then fail at once. */
  tools: readonly ServerTool[] = [];
  readonly #options: McpServerOptions;
  readonly #logger: Logger;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  /** Compiled tools, keyed by their JSON in the server's list. */
  #made = new Map<string, ServerTool>();
  #warned = new Set<string>();
  #connection: Connection | undefined;
  /** Resolves with the next connection; rejects if the next attempt fails. */
  #next = nextConnection();
  #isReported = false;
  /** The last part of the process's stderr, which usually says why it ended. */
  #stderr = "";
  #isListing = false;
  #isStale = false;

  constructor(options: McpServerOptions) {
    this.name = options.name;
    this.#options = options;
    this.#logger = options.logger.child({ mcpServer: options.name });
    this.#running = this.#run().catch(() => {});
  }

  get isDisconnected(): boolean {
    return this.#connection === undefined;
  }

  /** Resolves when the server's process has ended, which may take 4 s. May be called more than once. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("The MCP server is closing"));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    const options = { ...BACKOFF, retries: Number.POSITIVE_INFINITY, signal, unref: true };
    try {
      while (!signal.aborted) await pRetry(() => this.#attempt(), options);
    } finally {
      this.#next.reject(signal.reason);
    }
  }

  /**
   * Connects once and waits until the connection is lost. Resolves if the connection lasted at least `stableMs`;
   * otherwise rejects.
   */
  async #attempt(): Promise<void> {
    try {
      await this.#serve();
    } catch (error) {
      this.#report(error);
      // The error is wrapped, because p-retry treats a bare TypeError as a bug and stops retrying.
      throw new Error("The MCP server is not connected", { cause: error });
    }
  }

  async #serve(): Promise<void> {
    const { onChanged, stableMs = STABLE_MS } = this.#options;
    const { signal } = this.#closing;
    const connection = await this.#open();
    try {
      onChanged();
      this.#logger.info({ tools: this.tools.length }, "MCP server connected");
      const since = performance.now();
      await abortable(connection.lost, signal);
      if (performance.now() - since < stableMs) throw new ConnectionLostError();
      this.#isReported = false;
      this.#report(new ConnectionLostError());
    } finally {
      this.#connection = undefined;
      onChanged();
      await connection.close();
    }
  }

  /** Opens a connection and lists the tools, then settles `#next`, which calls may be waiting for. */
  async #open(): Promise<Connection> {
    const { config } = this.#options;
    const { signal } = this.#closing;
    this.#stderr = "";
    const { resolve, reject } = this.#next;
    let connection: Connection | undefined;
    try {
      const opened = await Connection.open({
        config,
        signal,
        onListChanged: () => void this.#relist(opened),
        onStderr: (text) => {
          this.#stderr = `${this.#stderr}${text}`.slice(-MAX_STDERR_LENGTH);
          this.#logger.debug({ stderr: text.slice(0, MAX_STDERR_LENGTH) }, "MCP server wrote to stderr");
        },
      });
      connection = opened;
      await Promise.race([abortable(this.#list(opened), signal), gone(opened)]);
      this.#connection = opened;
      resolve(opened);
      return opened;
    } catch (error) {
      reject(error);
      await connection?.close();
      throw error;
    } finally {
      this.#next = nextConnection();
    }
  }

  /** Warns once per disconnection. Further reports are logged at debug level. */
  #report(error: unknown): void {
    if (this.#closing.signal.aborted) return;
    const level = this.#isReported ? "debug" : "warn";
    const stderr = this.#stderr.trim();
    this.#logger[level](
      { why: reasonOf(error), ...(stderr !== "" && { stderr }) },
      "MCP server not connected, retrying",
    );
    this.#isReported = true;
  }

  /**
   * Lists the tools again after a change. Only one listing runs at a time; a change during a listing triggers another
   * listing.
   */
  async #relist(connection: Connection): Promise<void> {
    this.#isStale = true;
    if (this.#isListing || this.#connection !== connection) return;
    this.#isListing = true;
    try {
      while (this.#isStale && this.#connection === connection) {
        this.#isStale = false;
        await this.#list(connection);
        if (this.#connection === connection) this.#options.onChanged();
        await sleep(LIST_GAP_MS, undefined, { ref: false });
      }
    } catch (error) {
      this.#logger.warn({ why: reasonOf(error) }, "MCP tool list refresh failed, keeping the previous list");
      connection.check();
    } finally {
      this.#isListing = false;
    }
  }

  async #list(connection: Connection): Promise<void> {
    const listed = await listTools(connection.client, this.#options.config);
    if (listed.length > MAX_TOOLS)
      this.#warnOnce("more", `only the first ${MAX_TOOLS} tools are used: list the ones that you need in "tools"`);
    const made = new Map<string, ServerTool>();
    const tools = new Map<string, ServerTool>();
    let length = 0;
    for (const each of listed.slice(0, MAX_TOOLS)) {
      try {
        const json = JSON.stringify(each);
        length += json.length;
        if (length > MAX_TOTAL_LENGTH)
          throw new TypeError(`all tools together are longer than ${MAX_TOTAL_LENGTH} characters`);
        const tool = this.#made.get(json) ?? (await this.#make(each));
        if (tools.has(tool.name)) throw new TypeError(`the server has another tool named "${tool.name}"`);
        made.set(json, tool);
        tools.set(tool.name, tool);
      } catch (error) {
        this.#warnOnce(listedName(each), error instanceof TypeError ? error.message : "its schema cannot be used");
      }
    }
    this.#made = made;
    this.tools = [...tools.values()];
  }

  /** Compiles a tool. Lets other work run first, because compiling takes time. */
  async #make(listed: unknown): Promise<ServerTool> {
    await nextTick();
    return toMcpTool(listed, {
      server: this.name,
      timeoutMs: this.#options.config.timeoutMs,
      isDisconnected: () => this.isDisconnected,
      call: (tool, input, context) => this.#call(tool, input, context),
    });
  }

  /**
   * Calls a tool. If the server did not know the session, the call was not run, so it is sent again once, on the next
   * connection.
   */
  async #call(tool: string, input: unknown, context: Omit<ToolContext, "settings">): Promise<unknown> {
    const call = { server: this.name, tool, input, context };
    const connection = this.#connection;
    if (!connection) throw new Error(`MCP server "${this.name}" is not connected`);
    try {
      return await callTool(connection, call);
    } catch (error) {
      if (!(error instanceof UnknownSessionError)) throw error;
      return await callTool(await this.#connectionAfter(connection, context.signal), call);
    }
  }

  async #connectionAfter(lost: Connection, signal: AbortSignal): Promise<Connection> {
    if (this.#connection && this.#connection !== lost) return this.#connection;
    try {
      return await abortable(this.#next.promise, signal);
    } catch (error) {
      signal.throwIfAborted();
      const text = `MCP server "${this.name}" lost the session, and reconnecting failed (${reasonOf(error)})`;
      throw new Error(text, { cause: error });
    }
  }

  #warnOnce(tool: string, why: string): void {
    const key = `${tool}\n${why}`;
    if (this.#warned.has(key) || this.#warned.size > 2 * MAX_TOOLS) return;
    this.#warned.add(key);
    this.#logger.warn({ tool, why }, "MCP tool ignored");
  }
}

class ConnectionLostError extends Error {
  override readonly name = "connection lost";
}

function nextConnection(): PromiseWithResolvers<Connection> {
  const next = Promise.withResolvers<Connection>();
  void unawaited(next.promise);
  return next;
}

async function gone(connection: Connection): Promise<never> {
  await connection.lost;
  throw new ConnectionLostError();
}
