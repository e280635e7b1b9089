import type { FastifyInstance } from "fastify";
import { namesLoopback } from "../../lib/loopback.ts";
import { HttpError } from "../http-error.ts";

/**
 * Refuses requests that a web page from elsewhere makes a browser send to this machine. Such a request names a foreign
 * host, which the page's name server resolved to this machine (DNS rebinding), or a foreign origin. Pages in a sandbox
 * or from a file have the origin `null`; programs send none.
 */
export function answerThisMachineOnly(app: Pick<FastifyInstance, "addHook">): void {
  app.addHook("onRequest", async ({ headers: { host = "", origin } }) => {
    if (!namesLoopback(`http://${host}`)) throw notFromHere("Host");
    if (origin !== undefined && !namesLoopback(origin)) throw notFromHere("Origin");
  });
}

function notFromHere(header: string): HttpError {
  const expected =
    "expected localhost or a loopback address; without LIVEKIT_URL, this server answers this machine alone";
  return new HttpError(403, `${header}: ${expected}`, { headers: { "cache-control": "no-store" } });
}
