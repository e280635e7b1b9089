import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isRecord } from "../../lib/json.ts";
import type { OpenModel } from "../model/test-model.ts";
import { toSse } from "../../model-server/write-events.ts";
import { readCassette, type RecordedCall } from "./cassette-file.ts";
import { firstDifference } from "./first-difference.ts";
import { type AgentRequest, serve } from "./loopback-server.ts";
import { normalize, type Redact } from "../../scenario/redact.ts";

interface ReplayOptions {
  readonly file: string;
  readonly redact: Redact;
  /** Whether events are replayed with their recorded delays. */
  readonly isTimed: boolean;
}

/**
 * Answers from a cassette. The agent must send the recorded requests in the recorded order. A request that differs is
 * rejected, and the difference is reported as a problem of the test.
 */
export async function replayCalls({ file, redact, isTimed }: ReplayOptions): Promise<OpenModel> {
  const calls = await readCassette(file);
  const name = basename(file);
  const problems: string[] = [];
  /**
   * The calls not yet replayed, by path. Tokens may be counted at any time, so calls are in order only within a path.
   */
  const waiting = Object.groupBy(calls, ({ path }) => path);
  let played = 0;
  const refuse = (response: ServerResponse, problem: string) => {
    problems.push(problem);
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message: problem } }));
  };
  const server = await serve(async ({ path, text }: AgentRequest, response) => {
    const call = waiting[path]?.shift();
    if (!call) return refuse(response, `${name} has ${calls.length} calls, but the agent made one more (${path})`);
    played += 1;
    const difference = differenceOf(call, normalize(JSON.parse(text), redact));
    if (difference !== undefined)
      return refuse(response, `call ${calls.indexOf(call) + 1} differs from the one in ${name}: ${difference}`);
    if (!call.events) {
      response.writeHead(call.status, { "content-type": "application/json" });
      return void response.end(typeof call.body === "string" ? call.body : JSON.stringify(call.body));
    }
    response.writeHead(call.status, { "content-type": "text/event-stream; charset=utf-8" });
    await play(call, isTimed, response);
  });
  return {
    baseUrl: server.url,
    apiKey: "cassette",
    problems: () => problems,
    left: () => calls.length - played,
    close: () => server.close(),
  };
}

function differenceOf({ request }: RecordedCall, now: unknown): string | undefined {
  if (!isRecord(now)) return "the request is not a JSON object";
  // A cassette made from a stored session contains only the messages.
  const isWhole = "model" in request;
  const compared = isWhole ? now : Object.fromEntries(Object.keys(request).map((key) => [key, now[key]]));
  return firstDifference(request, compared);
}

async function play({ events = [], isCut }: RecordedCall, isTimed: boolean, response: ServerResponse): Promise<void> {
  const startedAt = performance.now();
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  for (const { ms, event } of events) {
    const waitMs = ms - (performance.now() - startedAt);
    if (isTimed && waitMs > 0) await sleep(waitMs, undefined, { signal: gone.signal });
    if (!response.write(toSse(event))) await once(response, "drain", { signal: gone.signal });
  }
  // A stream that the agent aborted has no end: the agent will abort it again.
  if (!isCut) response.end();
}
