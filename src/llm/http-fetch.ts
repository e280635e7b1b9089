import { once } from "node:events";
import * as http from "node:http";
import * as https from "node:https";
import { json, text } from "node:stream/consumers";
import { ModelError } from "./model-error.ts";

/** People pause between two turns: within this time the next call finds its connection open. Beyond it some firewalls drop it. */
const IDLE_MS = 50_000;
/** Limit of one answer. The longest that Claude gives, 128,000 tokens with an event for each, takes half of it. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/**
 * A `fetch` for Anthropic's SDK that goes by `node:http`. Node's own makes for each call streams, signals and weak
 * references that outlive the young objects' space: a third of a turn's CPU went there. Closes connections that nobody
 * used for `IDLE_MS`; open ones do not keep the process alive.
 *
 * It does what the SDK needs to send JSON and to read JSON or events, and no more: it follows no redirects, asks for no
 * compression, and the body is an async iterable, which the SDK reads as well. A body over `MAX_ANSWER_BYTES` fails with
 * a ModelError `endless_stream`. A proxy is used as Node's `fetch` uses it, with `NODE_USE_ENV_PROXY=1`. Checked with @anthropic-ai/sdk 1.12.0.
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

/** A server may close a connection just when it is used again: then the request is sent once more, by another one. */
async function send(open: () => http.ClientRequest, body: string | Uint8Array): Promise<http.IncomingMessage> {
  const request = open();
  // It also fails when it is aborted while its answer is read. The answer's reader is told, too.
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

/** The SDK holds a whole answer, or a whole event of a stream, in memory. */
async function* capped(answer: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new ModelError("endless_stream");
    yield chunk;
  }
}
