import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { OpenModel } from "../model/test-model.ts";
import { type RecordedCall, writeCassette } from "./cassette-file.ts";
import { type AgentRequest, serve } from "./loopback-server.ts";
import { normalize, type Redact, redactEvents } from "../../scenario/redact.ts";

interface RecordOptions {
  readonly file: string;
  readonly redact: Redact;
  readonly apiKey: string;
  /** The URL of the model's API. */
  readonly upstream: string;
}

/**
 * Starts a proxy in front of a model. `close` writes a cassette of the calls that passed through it, without their
 * headers.
 */
export async function recordCalls({ file, redact: ofTest, apiKey, upstream }: RecordOptions): Promise<OpenModel> {
  // Remove the key here, because a gateway's error may quote it and no pattern can recognize a custom key. Keep a short
  // key, such as "none", because it may be an ordinary word.
  const redact: Redact = (text) => ofTest(apiKey.length < 8 ? text : text.replaceAll(apiKey, "<secret>"));
  const calls: RecordedCall[] = [];
  const handle = async (received: AgentRequest, response: ServerResponse) => {
    const startedAt = performance.now();
    const { path, text } = received;
    const request = normalize(JSON.parse(text), redact) as Record<string, unknown>;
    const answer = await callModel(upstream, received, response);
    const { status } = answer;
    const type = answer.headers.get("content-type") ?? "application/json";
    const retryAfter = answer.headers.get("retry-after");
    response.writeHead(status, { "content-type": type, ...(retryAfter !== null && { "retry-after": retryAfter }) });
    if (!type.startsWith("text/event-stream") || !answer.body) {
      const body = await answer.text();
      calls.push({ path, request, status, body: normalize(parseBody(body), redact) });
      return void response.end(body);
    }
    const call = { path, request, status, events: [], isCut: true } satisfies RecordedCall;
    calls.push(call);
    const [toAgent, toUs] = answer.body.tee();
    const passing = pipeline(Readable.fromWeb(toAgent), response).catch(() => {});
    const events = await readEvents(toUs, startedAt);
    await passing;
    Object.assign(call, { events: redactEvents(events, redact), isCut: !response.writableFinished });
  };
  const server = await serve(handle);
  return {
    baseUrl: server.url,
    apiKey,
    problems: () => [],
    left: () => 0,
    close: async () => {
      await server.close();
      await writeCassette(file, calls.map(withoutFalse));
    },
  };
}

/** Sends the agent's request to the model. When the agent's connection closes, the call is aborted. */
function callModel(
  upstream: string,
  { path, query, headers, text }: AgentRequest,
  response: ServerResponse,
): Promise<Response> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  return fetch(upstream.replace(/\/$/u, "") + path + query, {
    method: "POST",
    headers: passedOn(headers),
    body: text,
    signal: gone.signal,
  });
}

/** Parses a body, or returns it as text if it is not JSON: another proxy may have answered with an HTML page. */
function parseBody(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

function passedOn(headers: IncomingHttpHeaders): Record<string, string> {
  const isWanted = (name: string) =>
    name === "x-api-key" || name === "authorization" || name === "content-type" || name.startsWith("anthropic-");
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (isWanted(name) ? [[name, String(value)]] : [])),
  );
}

/** Returns the events of a stream. If the stream breaks, returns the events received so far. */
async function readEvents(stream: ReadableStream<Uint8Array>, startedAt: number) {
  const events: { ms: number; event: Record<string, unknown> }[] = [];
  const input = Readable.fromWeb(stream as never);
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (!line.startsWith("data:")) continue;
      const event = JSON.parse(line.slice("data:".length)) as Record<string, unknown>;
      events.push({ ms: Math.round(performance.now() - startedAt), event });
    }
  } catch {
    // The agent has aborted the call.
  }
  return events;
}

function withoutFalse({ isCut, ...call }: RecordedCall): RecordedCall {
  return isCut ? { ...call, isCut } : call;
}
