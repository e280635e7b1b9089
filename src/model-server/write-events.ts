import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Fault, Json, ReplyOptions } from "./step.ts";

const PING_MS = 10;

/**
 * Writes events as SSE and then simulates the fault. After a stall, the response stays open until the connection is
 * closed.
 */
export async function writeEvents(
  response: ServerResponse,
  events: readonly Json[],
  options: ReplyOptions,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const { fault, afterMs = 0, slow = 0 } = options;
  const count = Math.min(fault?.after ?? events.length, events.length);
  try {
    if (afterMs > 0) await sleep(afterMs, undefined, { signal: gone.signal });
    for (const event of events.slice(0, count)) {
      if (slow > 0) await sleep(slow, undefined, { signal: gone.signal });
      if (!response.write(toSse(event))) await drained(response);
    }
    await finish(response, fault, gone.signal);
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
}

/** Ends the response, or fails as the fault says. Rejects when the connection is closed in the meantime. */
async function finish(response: ServerResponse, fault: Fault | undefined, signal: AbortSignal): Promise<void> {
  switch (fault?.kind) {
    case "stall":
      return;
    case "pings_only":
      while (!signal.aborted) {
        response.write(toSse({ type: "ping" }));
        await sleep(PING_MS, undefined, { signal });
      }
      return;
    case "destroy":
      // Gives the client time to read the events, because a reset may overtake them.
      await sleep(PING_MS, undefined, { signal });
      response.destroy();
      return;
    case "error":
      response.write(toSse({ type: "error", error: { type: fault.errorType, message: "Scripted stream error" } }));
      response.end();
      return;
    case "end":
    case undefined:
      response.end();
  }
}

export function toSse(event: Json): string {
  return `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`;
}

function drained(response: ServerResponse): Promise<void> {
  if (response.closed) return Promise.resolve();
  return new Promise((resolve) => {
    const settle = () => {
      response.off("drain", settle);
      response.off("close", settle);
      resolve();
    };
    response.on("drain", settle);
    response.on("close", settle);
  });
}
