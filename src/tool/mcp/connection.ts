import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport, StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  type ElicitRequest,
  ElicitRequestSchema,
  type ElicitResult,
  ErrorCode,
  McpError,
  type Progress,
  ProgressNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { abortable } from "../../lib/abortable.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { ToolContext } from "../define-tool.ts";
import { messageOf } from "../outcome.ts";
import type { McpServerConfig } from "./mcp-config.ts";
import { type McpTransport, openTransport } from "./open-transport.ts";

const PING_EVERY_MS = 30_000;
const PING_TIMEOUT_MS = 10_000;
/** The maximum number of forms during one call, so that a server cannot keep asking a participant. */
const MAX_FORMS = 20;
/** How long a closing connection waits for the server to end its session. */
const FAREWELL_MS = 500;

interface ConnectionOptions {
  readonly config: McpServerConfig;
  readonly signal: AbortSignal;
  readonly onListChanged: () => void;
  readonly onStderr: (text: string) => void;
}

interface WaitingCall {
  readonly onProgress: (progress: Progress) => void;
  readonly elicit: ToolContext["elicit"];
}

/** One connection to a server, from `initialize` until the connection is lost. It is never reopened. */
export class Connection {
  readonly client: Client;
  /** Resolves when the server is gone or `close` was called. */
  readonly lost: Promise<void>;
  readonly #transport: McpTransport;
  readonly #onLost: () => void;
  /** Keyed by progress token. */
  readonly #calls = new Map<string, WaitingCall & { forms: number; isAsking: boolean }>();
  /**
   * Whether the server assigned an id to its session. Stored here, because the transport forgets the id when it closes.
   */
  #hasSession = false;
  #isChecking = false;
  #pinging: NodeJS.Timeout | undefined;

  private constructor(client: Client, transport: McpTransport) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.client = client;
    this.lost = promise;
    this.#onLost = resolve;
    this.#transport = transport;
  }

  /** Opens a connection. Rejects after the config's `timeoutMs`, whatever the server does. */
  static async open({ config, signal, onListChanged, onStderr }: ConnectionOptions): Promise<Connection> {
    // The client declares no other capabilities, so a server may request neither samples from the model nor files.
    const client = new Client({ name: "parley", version: "0.1.0" }, { capabilities: { elicitation: { form: {} } } });
    const connection = new Connection(client, openTransport(config, onStderr));
    client.onclose = () => connection.#onLost();
    client.onerror = () => connection.check();
    client.setNotificationHandler(ProgressNotificationSchema, ({ params }) =>
      connection.#calls.get(String(params.progressToken))?.onProgress(params),
    );
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => connection.#elicit(params));
    client.setNotificationHandler(ToolListChangedNotificationSchema, onListChanged);
    try {
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(config.timeoutMs)]);
      await abortable(client.connect(connection.#transport, { timeout: config.timeoutMs }), deadline);
    } catch (error) {
      await connection.close();
      throw error;
    }
    connection.#hasSession = sessionIdOf(connection.#transport) !== undefined;
    connection.#pinging = setInterval(() => connection.check(), PING_EVERY_MS).unref();
    return connection;
  }

  /**
   * Runs one call. Progress that the server reports under `token`, and forms that it sends meanwhile, are passed to the
   * call. The SDK's own progress handling loses progress that arrives together with the answer.
   */
  async withCall<Value>(token: string, waiting: WaitingCall, call: () => Promise<Value>): Promise<Value> {
    this.#calls.set(token, { ...waiting, forms: 0, isAsking: false });
    try {
      return await call();
    } finally {
      this.#calls.delete(token);
    }
  }

  /**
   * Shows a server's form to the participant of its call. The protocol does not say which call a form is for, and
   * sessions share the connection. So while several calls are waiting, the form is refused, because it might reach the
   * wrong participant. A call has only one form at a time, because each form is an open call, and a session's open
   * calls are limited.
   */
  async #elicit(params: ElicitRequest["params"]): Promise<ElicitResult> {
    const [call, ...others] = this.#calls.values();
    if (!call || others.length > 0) {
      const count = call ? "several calls are running" : "no call is running";
      throw new McpError(
        ErrorCode.InvalidRequest,
        `Form not shown: ${count}, so it is unknown which participant the form is for`,
      );
    }
    if (!("requestedSchema" in params)) throw new McpError(ErrorCode.InvalidParams, "Only forms are supported");
    if (call.isAsking)
      throw new McpError(ErrorCode.InvalidRequest, "Form not shown: the call already has an open form");
    if (call.forms >= MAX_FORMS)
      throw new McpError(ErrorCode.InvalidRequest, `Form not shown: the call has already shown ${MAX_FORMS} forms`);
    call.forms += 1;
    call.isAsking = true;
    try {
      const { message, requestedSchema } = params;
      return (await call.elicit({ message, schema: requestedSchema as unknown as JsonObject })) as ElicitResult;
    } catch (error) {
      throw new McpError(ErrorCode.InvalidParams, messageOf(error));
    } finally {
      call.isAsking = false;
    }
  }

  /**
   * Pings an HTTP server and closes the connection if the server is gone, because nothing else reports that. A server
   * that does not answer while it runs a call counts as busy. A stdio server is not pinged, because the exit of its
   * process is reported.
   */
  check(): void {
    if (!(this.#transport instanceof StreamableHTTPClientTransport) || this.#pinging === undefined) return;
    if (!this.#isChecking) void this.#check();
  }

  async #check(): Promise<void> {
    this.#isChecking = true;
    try {
      await this.client.ping({ timeout: PING_TIMEOUT_MS });
    } catch (error) {
      const isBusy = error instanceof McpError && isTimeout(error) && this.#calls.size > 0;
      // A server that does not support pings has answered, so it is alive. Any other error may mean that the server has
      // forgotten the session.
      const isAlive = isBusy || (error instanceof McpError && error.code === Number(ErrorCode.MethodNotFound));
      if (!isAlive) await this.client.close();
    } finally {
      this.#isChecking = false;
    }
  }

  /**
   * Whether the error means that the server does not know our session: HTTP 404 for a request with a session id. The
   * server has then run nothing, and a new connection is needed.
   */
  isSessionUnknown(error: unknown): boolean {
    return this.#hasSession && error instanceof StreamableHTTPError && error.code === 404;
  }

  /** Reports the connection as lost, so that its owner closes it and opens another one. */
  giveUp(): void {
    this.#onLost();
  }

  /** Ends the server's process or session. Open requests are rejected. */
  async close(): Promise<void> {
    clearInterval(this.#pinging);
    this.#pinging = undefined;
    if (this.#transport instanceof StreamableHTTPClientTransport) {
      const farewell = this.#transport.terminateSession().catch(() => {});
      await Promise.race([farewell, sleep(FAREWELL_MS, undefined, { ref: false })]);
    }
    this.#onLost();
    await this.client.close().catch(() => {});
    await this.#transport.close().catch(() => {});
  }
}

function sessionIdOf(transport: McpTransport): string | undefined {
  return transport instanceof StreamableHTTPClientTransport ? transport.sessionId : undefined;
}

function isTimeout(error: McpError): boolean {
  return error.code === Number(ErrorCode.RequestTimeout);
}

/** Returns the reason for a failure, safe to log: never the server's own text, which may quote a participant. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  if (error instanceof StreamableHTTPError)
    return error.code !== undefined && error.code > 0 ? `HTTP ${error.code}` : "HTTP";
  if (error instanceof McpError) return MCP_REASONS[error.code] ?? `MCP error ${error.code}`;
  if (error.name === "TimeoutError") return "no answer in time";
  return systemReasonOf(error) ?? error.name;
}

/** Returns why the system could not reach or start a server: `ECONNREFUSED`, `ENOENT: npx`. */
function systemReasonOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const inner = [error.cause, ...(error instanceof AggregateError ? (error.errors as unknown[]) : [])];
  const code = codeOf(error);
  if (code === undefined) {
    const [reason] = inner.flatMap((each) => systemReasonOf(each) ?? []);
    // Node's own message, such as "bad port". No server has answered.
    const words = error.message === "fetch failed" && error.cause instanceof Error ? error.cause.message : undefined;
    return reason ?? words;
  }
  return "path" in error && typeof error.path === "string" ? `${code}: ${error.path}` : code;
}

const MCP_REASONS: Readonly<Record<number, string>> = {
  [ErrorCode.ConnectionClosed]: "connection closed",
  [ErrorCode.RequestTimeout]: "no answer in time",
};

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Returns the error text that the model reads. An error that the server sent keeps its own text. */
export function callErrorText(server: string, error: unknown): string {
  if (error instanceof McpError && error.code === Number(ErrorCode.ConnectionClosed))
    return `MCP server "${server}" disconnected during the call; the outcome is unknown`;
  if (error instanceof McpError) return error.message.replace(/^(?:MCP error -?\d+: )+/u, "") || "The tool failed";
  const isWire = error instanceof StreamableHTTPError || error instanceof TypeError;
  if (isWire) return `MCP server "${server}" could not be reached (${reasonOf(error)})`;
  return `MCP server "${server}" sent an invalid response`;
}
