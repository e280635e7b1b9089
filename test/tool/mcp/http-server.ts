import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { BASE_TOOLS, createToolServer } from "../../fixtures/mcp/tool-server.ts";

/** A streamable HTTP server in this process that can stop and restart at the same address. */
export class HttpToolServer implements AsyncDisposable {
  readonly notes: string[] = [];
  readonly headers: IncomingMessage["headers"][] = [];
  readonly tools: readonly Tool[];
  /** Whether the server accepts new sessions. */
  isOpen = true;
  #port = 0;
  #http: Server | undefined;
  #sessions = new Map<string, StreamableHTTPServerTransport>();

  constructor(tools: readonly Tool[] = BASE_TOOLS) {
    this.tools = tools;
  }

  static async start(tools?: readonly Tool[]): Promise<HttpToolServer> {
    const server = new HttpToolServer(tools);
    await server.listen();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/mcp`;
  }

  async listen(): Promise<void> {
    this.forget();
    const http = createServer((request, response) => {
      this.headers.push(request.headers);
      if (request.method === "DELETE") this.notes.push("delete");
      void (async () => {
        const id = request.headers["mcp-session-id"];
        const known = typeof id === "string" ? this.#sessions.get(id) : undefined;
        if (id !== undefined && !known) return void response.writeHead(404).end();
        if (!known && !this.isOpen) return void response.writeHead(503).end();
        const transport = known ?? (await this.#open());
        await transport.handleRequest(request, response);
      })();
    });
    http.listen(this.#port, "127.0.0.1");
    await once(http, "listening");
    this.#port = (http.address() as AddressInfo).port;
    this.#http = http;
  }

  /** From now on, answers 404 to all existing sessions. Their connections and event streams stay open. */
  forget(): void {
    this.#sessions = new Map();
  }

  async #open(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void this.#sessions.set(id, transport),
    });
    const server = createToolServer({
      tools: this.tools,
      note: (line) => this.notes.push(line),
      crash: () => void this.stop(),
    });
    await server.connect(transport as Transport);
    return transport;
  }

  /** Stops the server as if its process had been killed. */
  async stop(): Promise<void> {
    const http = this.#http;
    this.#http = undefined;
    http?.closeAllConnections();
    await new Promise<void>((resolve) => (http ? http.close(() => resolve()) : resolve()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
