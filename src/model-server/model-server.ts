import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { afterCompaction, compactionOf } from "./compaction.ts";
import { IssuedContent } from "./issued-content.ts";
import { PromptCache, tokensOf } from "./prompt-cache.ts";
import { httpError, type Json, type Step } from "./step.ts";
import { ThinkingBinding } from "./thinking-binding.ts";
import { toEvents } from "./to-events.ts";
import { validateRequest } from "./validate-request.ts";
import { writeEvents } from "./write-events.ts";

export interface RecordedRequest {
  readonly body: Json;
  readonly headers: IncomingHttpHeaders;
  /** The client's port, which identifies requests that share a connection. */
  readonly connection: number | undefined;
  /** The value of `performance.now()` when the request was read. */
  readonly at: number;
  /** Why the request was refused with status 400. */
  rejection: string | undefined;
  /** The prompt's part of the answer's `usage`. */
  usage: Json | undefined;
  /** `aborted`: the client closed the connection before the answer was complete. */
  state: "open" | "ended" | "aborted";
}

export type Script = readonly Step[] | ((request: RecordedRequest, index: number) => Step | Promise<Step>);

export interface ModelServer extends AsyncDisposable {
  /** The base URL for the SDK. */
  readonly url: string;
  readonly requests: RecordedRequest[];
  /** The bodies of the `count_tokens` requests. */
  readonly counted: readonly Json[];
  /** The messages of all answers with status 400, in order. A test of a well-behaved client expects none. */
  readonly rejections: readonly string[];
  /** The number of calls that had no scripted step. */
  readonly unscriptedCount: number;
  /** The number of answers that are still being written. */
  readonly openCount: number;
  readonly abortedCount: number;
  /** Adds steps to the queue. A function replaces all queued steps. */
  script(script: Script): void;
  /** Drops the queued steps. */
  forget(): void;
  /** Closes all connections. Idempotent. */
  close(): Promise<void>;
}

export interface ModelServerOptions {
  readonly apiKey?: string;
  /** The model's context size. Longer prompts are refused. @defaultValue unlimited */
  readonly maxTokens?: number;
  /**
   * The models for which the server answers `POST /v1/messages/count_tokens`, which not every endpoint supports.
   * @defaultValue all
   */
  readonly counts?: (model: unknown) => boolean;
  /** Whether the server, like newer models, refuses thinking if anything before it has changed. @defaultValue false */
  readonly bindsThinking?: boolean;
  /** How many of the newest requests are kept. @defaultValue all */
  readonly keepsRequests?: number;
}

/**
 * Starts a server that implements `POST /v1/messages` as strictly as Anthropic. A request that breaks a rule receives a
 * 400 and consumes no step of the script. A call after the script's last step receives a 500 that must not be retried.
 */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const server = new ScriptedServer(options);
  await server.listen();
  return server;
}

class ScriptedServer implements ModelServer {
  readonly requests: RecordedRequest[] = [];
  readonly counted: Json[] = [];
  unscriptedCount = 0;
  url = "";
  readonly #options: ModelServerOptions;
  readonly #issued = new IssuedContent();
  readonly #cache = new PromptCache();
  readonly #binding = new ThinkingBinding();
  readonly #server: Server;
  #queue: Step[] = [];
  #scripted: Exclude<Script, readonly Step[]> | undefined;
  #requestCount = 0;
  #toolUseCount = 0;

  constructor(options: ModelServerOptions) {
    this.#options = options;
    this.#server = createServer((incoming, response) => {
      this.#handle(incoming, response).catch((error: unknown) => {
        if (response.headersSent || response.destroyed) response.destroy();
        else sendError(response, { ...unscripted, message: `The model server failed: ${String(error)}` });
      });
    });
  }

  get rejections(): readonly string[] {
    return this.requests.flatMap(({ rejection }) => rejection ?? []);
  }

  get openCount(): number {
    return this.requests.filter(({ state }) => state === "open").length;
  }

  get abortedCount(): number {
    return this.requests.filter(({ state }) => state === "aborted").length;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  script(script: Script): void {
    if (typeof script === "function") [this.#queue, this.#scripted] = [[], script];
    else this.#queue.push(...script);
  }

  forget(): void {
    this.#queue = [];
  }

  close(): Promise<void> {
    return new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readText(incoming);
    const path = incoming.url?.split("?")[0];
    const isAllowed = isAuthorized(incoming.headers, this.#options.apiKey);
    if (incoming.method === "POST" && path === "/v1/messages") {
      const request = this.#record(incoming, text, response);
      if (!isAllowed) return sendError(response, httpError(401));
      return this.#answer(request, response);
    }
    if (!isAllowed) return sendError(response, httpError(401));
    if (incoming.method === "POST" && path === "/v1/messages/count_tokens")
      return this.#count(parseBody(text), betasOf(incoming.headers), response);
    if (incoming.method === "GET" && path?.startsWith("/v1/models/") === true)
      return sendModel(path.slice("/v1/models/".length), response);
    return sendError(response, httpError(404));
  }

  #record({ headers, socket }: IncomingMessage, text: string, response: ServerResponse): RecordedRequest {
    const request: RecordedRequest = {
      body: parseBody(text),
      headers,
      connection: socket.remotePort,
      at: performance.now(),
      rejection: undefined,
      usage: undefined,
      state: "open",
    };
    this.#keep(this.requests, request);
    this.#requestCount++;
    response.once("close", () => (request.state = response.writableFinished ? "ended" : "aborted"));
    response.setHeader("request-id", `req_${this.#requestCount}`);
    return request;
  }

  async #answer(request: RecordedRequest, response: ServerResponse): Promise<void> {
    const { body } = request;
    const messageId = `msg_${String(this.#requestCount).padStart(4, "0")}`;
    request.rejection = this.#problemOf(request);
    if (request.rejection !== undefined) return sendError(response, { ...invalid, message: request.rejection });
    const step = await this.#nextStep(request);
    if (step.kind === "http_error") return sendError(response, step);
    if (step.kind === "no_headers") return;
    request.usage = this.#cache.charge(afterCompaction(body));
    const summary = compactionOf(body, tokensOf(afterCompaction(body)));
    const events = toEvents(step, {
      ...(summary && { summary: { block: summary, usage: request.usage } }),
      model: String(body["model"]),
      messageId,
      usage: request.usage,
      nextToolUseId: () => `toolu_${String(++this.#toolUseCount).padStart(4, "0")}`,
    });
    this.#issued.record(events.slice(0, step.options.fault?.after));
    this.#binding.record(events, body);
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
    response.flushHeaders();
    await writeEvents(response, events, step.options);
  }

  #problemOf({ body, headers }: RecordedRequest): string | undefined {
    if (headers["anthropic-version"] === undefined) return "anthropic-version: header is required";
    return (
      validateRequest(body, this.#issued, betasOf(headers)) ??
      tooLong(body, this.#options.maxTokens) ??
      (this.#options.bindsThinking === true ? this.#binding.problemOf(body) : undefined)
    );
  }

  async #nextStep(request: RecordedRequest): Promise<Step> {
    const number = this.#requestCount;
    const step = this.#queue.shift() ?? (await this.#scripted?.(request, number - 1));
    if (step) return step;
    this.unscriptedCount++;
    return { ...unscripted, message: `Model call ${number} is not scripted` };
  }

  #count(body: Json, betas: string, response: ServerResponse): void {
    this.#keep(this.counted, body);
    const rejection = validateRequest({ max_tokens: 1, stream: true, ...body }, this.#issued, betas);
    if (this.#options.counts?.(body["model"]) === false) return sendError(response, httpError(404));
    if (rejection !== undefined) return sendError(response, { ...invalid, message: rejection });
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ input_tokens: tokensOf(afterCompaction(body)) }));
  }

  #keep<Item>(list: Item[], item: Item): void {
    list.push(item);
    if (list.length > (this.#options.keepsRequests ?? Number.POSITIVE_INFINITY)) list.shift();
  }
}

function betasOf(headers: IncomingHttpHeaders): string {
  return String(headers["anthropic-beta"] ?? "");
}

function tooLong(body: Json, maxTokens = Number.POSITIVE_INFINITY): string | undefined {
  const tokens = tokensOf(afterCompaction(body));
  return tokens > maxTokens ? `prompt is too long: ${tokens} tokens > ${maxTokens} maximum` : undefined;
}

type HttpErrorStep = Extract<Step, { kind: "http_error" }>;

const invalid = httpError(400) as HttpErrorStep;
const unscripted = httpError(500, "api_error", { "x-should-retry": "false" }) as HttpErrorStep;

function sendError(response: ServerResponse, step: Step): void {
  if (step.kind !== "http_error") return;
  const { status, errorType, headers, message } = step;
  const requestId = response.getHeader("request-id") ?? null;
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ type: "error", error: { type: errorType, message }, request_id: requestId }));
}

function sendModel(id: string, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ type: "model", id, display_name: id, created_at: "2026-01-01T00:00:00Z" }));
}

function parseBody(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return {};
  }
}

function isAuthorized(headers: IncomingHttpHeaders, apiKey: string | undefined): boolean {
  const sent = headers.authorization?.replace(/^Bearer /, "") ?? String(headers["x-api-key"] ?? "");
  return apiKey === undefined ? sent !== "" : sent === apiKey;
}
