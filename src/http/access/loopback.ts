import type { FastifyInstance } from "fastify";
import { namesLoopback } from "../../lib/loopback.ts";
import { HttpError } from "../http-error.ts";

/**
 * Rejects requests that a browser on this machine sends for a foreign web page. Such a request has a foreign `Origin`,
 * or a foreign `Host` whose name the page's DNS server has resolved to this machine (DNS rebinding). Sandboxed pages
 * and pages from a file have the origin `null`, which is rejected, too. Programs send no `Origin`.
 */
export function answerThisMachineOnly(app: Pick<FastifyInstance, "addHook">): void {
  app.addHook("onRequest", async ({ headers: { host = "", origin } }) => {
    if (!namesLoopback(`http://${host}`)) throw notFromHere("Host");
    if (origin !== undefined && !namesLoopback(origin)) throw notFromHere("Origin");
  });
}

function notFromHere(header: string): HttpError {
  const expected =
    "expected localhost or a loopback address; without LIVEKIT_URL, this server answers only this machine";
  return new HttpError(403, `${header}: ${expected}`, { headers: { "cache-control": "no-store" } });
}
