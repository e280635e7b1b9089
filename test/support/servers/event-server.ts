import { pino } from "pino";
import { AccessToken } from "livekit-server-sdk";
import { openEventSource } from "../../../src/http/events/event-source.ts";
import { createHttpServer } from "../../../src/http/http-server.ts";
import type { SseTimes } from "../../../src/http/sse/sse-stream.ts";
import type { PermissionRule } from "../../../src/permission/rule.ts";
import type { Budget } from "../../../src/session/spending/budget.ts";
import { toServerTool } from "../../../src/tool/server-tool.ts";
import { guardedTool } from "../guarded-tool.ts";

export const livekit = { url: "ws://livekit", apiKey: "key", apiSecret: "secret-of-at-least-thirty-two-characters" };

export interface ReadEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

interface ServerOptions {
  readonly databaseUrl: string;
  /** The address for PostgreSQL's notifications. With undefined, the server polls. @defaultValue `databaseUrl` */
  readonly listenUrl?: string | undefined;
  readonly times?: SseTimes;
  readonly checkMs?: number;
  /** Rules for edited arguments of the tool `write`, a `guardedTool`. */
  readonly rules?: readonly PermissionRule[];
  readonly budget?: Budget;
  /** Enables `POST /token`. */
  readonly tokenSecret?: string;
}

/** The worker's HTTP server on its own port, with its own LiveKit key. */
export class EventServer implements AsyncDisposable {
  readonly url: string;
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  static async start(options: ServerOptions): Promise<EventServer> {
    const { databaseUrl, times = {}, checkMs = 5_000, rules = [], budget = {}, tokenSecret } = options;
    const listenUrl = "listenUrl" in options ? options.listenUrl : databaseUrl;
    const logger = pino({ level: "silent" });
    const source = openEventSource({ databaseUrl, listenUrl, logger, checkMs });
    const token = { isOpen: false, secret: tokenSecret };
    const write = toServerTool("write", guardedTool({ allowEditedInput: true }).tool, undefined);
    const app = createHttpServer({
      logger,
      livekit,
      publicUrl: livekit.url,
      checks: [],
      token,
      events: {
        source,
        times,
        budget,
        // The same as in TestAgent, because a worker and its HTTP server share one config.
        permissionWaitMs: 120_000,
        edits: { serverTools: new Map([["write", write]]), rules },
      },
    });
    const url = await app.listen({ host: "127.0.0.1", port: 0 });
    return new EventServer(url, async () => {
      await app.close();
      await source.close();
    });
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.url}${path}`, { headers });
  }

  async getAs(token: string, path: string): Promise<Response> {
    return this.get(path, { authorization: `Bearer ${token}` });
  }

  async post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  }

  async postAs(token: string, path: string, body: unknown): Promise<Response> {
    return this.post(path, body, { authorization: `Bearer ${token}` });
  }

  /** Opens a session's event stream as a participant in its room. */
  async open(
    { id, room }: { readonly id: string; readonly room: string },
    { lastEventId, identity = "ann" }: OpenOptions = {},
  ): Promise<EventReader> {
    const token = await roomToken(room, { identity });
    const headers = {
      authorization: `Bearer ${token}`,
      ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
    };
    const response = await this.get(`/session/${id}/events`, headers);
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    return new EventReader(response);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

interface OpenOptions {
  readonly lastEventId?: string;
  readonly identity?: string;
}

interface TokenChanges {
  readonly identity?: string;
  readonly ttl?: string;
  readonly secret?: string;
  readonly roomJoin?: boolean;
  readonly canSubscribe?: boolean;
  readonly roomAdmin?: boolean;
}

export async function roomToken(
  room: string,
  {
    identity = "ann",
    ttl = "1h",
    secret = livekit.apiSecret,
    roomJoin = true,
    canSubscribe,
    roomAdmin = false,
  }: TokenChanges = {},
): Promise<string> {
  const token = new AccessToken(livekit.apiKey, secret, { identity, ttl });
  token.addGrant({ room, roomJoin, roomAdmin, ...(canSubscribe !== undefined && { canSubscribe }) });
  return token.toJwt();
}

/** Reads an event stream according to the standard, and keeps everything. */
export class EventReader implements AsyncDisposable {
  readonly response: Response;
  readonly events: ReadEvent[] = [];
  /** Everything received, including comments. */
  text = "";
  /** Resolves when the stream ends: to true if it ended properly, to false if the connection broke. */
  readonly ended: Promise<boolean>;
  readonly #controller: ReadableStreamDefaultReader<Uint8Array>;
  #wake = () => {};

  constructor(response: Response) {
    this.response = response;
    if (!response.body) throw new Error("no body");
    this.#controller = response.body.getReader();
    this.ended = this.#read();
  }

  names(): string[] {
    return this.events.map(({ event }) => event);
  }

  get lastId(): string | undefined {
    return this.events.findLast(({ id }) => id !== undefined)?.id;
  }

  /** The first matching event, among those received so far or within `timeoutMs`. */
  async next(fits: (event: ReadEvent) => boolean, timeoutMs = 10_000): Promise<ReadEvent> {
    return this.until(() => this.events.find(fits), timeoutMs);
  }

  async until<Result>(find: () => Result | undefined | false, timeoutMs = 10_000): Promise<Result> {
    const giveUpAt = Date.now() + timeoutMs;
    for (;;) {
      const found = find();
      if (found !== undefined && found !== false) return found;
      const left = giveUpAt - Date.now();
      if (left <= 0) throw new Error(`It did not come; got: ${this.text.slice(-2_000)}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, left);
      this.#wake = resolve;
      await promise;
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    await this.#controller.cancel().catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #read(): Promise<boolean> {
    const decoder = new TextDecoder();
    let rest = "";
    try {
      for (;;) {
        const { done, value } = await this.#controller.read();
        if (done) return true;
        const piece = decoder.decode(value, { stream: true });
        this.text += piece;
        const parts = (rest + piece).split("\n\n");
        rest = parts.pop() ?? "";
        for (const part of parts) this.#take(part);
        this.#wake();
      }
    } catch {
      return false;
    } finally {
      this.#wake();
    }
  }

  #take(part: string): void {
    const fields = new Map(
      part.split("\n").map((line) => [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)]),
    );
    const event = fields.get("event");
    if (event === undefined) return;
    const data = JSON.parse(fields.get("data") ?? "") as Record<string, unknown>;
    this.events.push({ id: fields.get("id"), event, data });
  }
}
