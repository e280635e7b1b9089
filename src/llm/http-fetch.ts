import { once } from "node:events";
import * as http from "node:http";
import * as https from "node:https";
import { json, text } from "node:stream/consumers";
import { ModelError } from "./model-error.ts";

/**
 * How long idle connections stay open, so that the next turn's call can reuse them. Not longer, because some firewalls
 * would then drop the connections.
 */
const IDLE_MS = 50_000;
/**
 * The size limit of a response. Claude's longest response (128,000 tokens, with one event each) reaches half the limit.
 */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/**
 * Creates a `fetch` for Anthropic's SDK on top of `node:http`. For each call, Node's own `fetch` creates streams,
 * signals and weak references that survive young-generation garbage collection. They took a third of a turn's CPU time.
 * Connections that are idle for `IDLE_MS` are closed, and open ones do not keep the process alive.
 *
 * Supports only what the SDK needs to send JSON and to read JSON or events: it does not follow redirects or request
 * compression, and the body is an async iterable, which the SDK accepts. A body over `MAX_ANSWER_BYTES` fails with a
 * ModelError `endless_stream`. With `NODE_USE_ENV_PROXY=1`, it uses a proxy as Node's `fetch` does. Tested with version
 * 1.12.0 of the SDK.
 */
export function createHttpFetch(): typeof fetch {
  const proxyEnv = process.env["NODE_USE_ENV_PROXY"] === "1" ? process.env : undefined;
  const kept = { keepAlive: true, timeout: IDLE_MS, ...(proxyEnv && { proxyEnv }) };
  const agents: Record<string, http.Agent> = { "http:": new http.Agent(kept), "https:": new https.Agent(kept) };
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const { request } = url.protocol === "https:" ? https : http;
    const options = { agent: agents[url.protocol], ...toOptions(init) };
    return toResponse(await send(() => request(url, options), init.body as string | Uint8Array));
  };
}

function toOptions({ method, headers, signal }: RequestInit): http.RequestOptions {
  return {
    ...(method !== undefined && { method }),
    headers: { ...Object.fromEntries(new Headers(headers)), "accept-encoding": "identity" },
    ...(signal && { signal }),
  };
}

/**
 * Sends a request. If the server has just closed the reused connection, sends the request again on another connection.
 */
async function send(open: () => http.ClientRequest, body: string | Uint8Array): Promise<http.IncomingMessage> {
  const request = open();
  // An abort while the response is being read also emits an error on the request. It is ignored here, because the
  // response's reader receives the same error.
  request.on("error", () => {});
  request.end(body);
  try {
    const [answer] = (await once(request, "response")) as [http.IncomingMessage];
    return answer;
  } catch (error) {
    if (request.reusedSocket && isClosed(error)) return send(open, body);
    throw error;
  }
}

function isClosed(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
}

function toResponse(answer: http.IncomingMessage): Response {
  const { statusCode: status = 0, headersDistinct } = answer;
  const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const body = capped(answer);
  const response = {
    status,
    ok: status >= 200 && status < 300,
    headers: new Headers(headers),
    body,
    text: () => text(body),
    json: () => json(body),
  };
  return response as object as Response;
}

/** Limits the body's size, because the SDK holds a whole response, or a whole event of a stream, in memory. */
async function* capped(answer: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new ModelError("endless_stream");
    yield chunk;
  }
}
