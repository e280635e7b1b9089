import type { FastifyInstance } from "fastify";
import { isIPv4 } from "node:net";
import { HttpError } from "../http-error.ts";

/** Whether a host name always means this machine, whatever a name server says. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, "");
  if (isIPv4(name)) return name.startsWith("127.");
  return name === "localhost" || name.endsWith(".localhost") || name === "::1" || name === "[::1]";
}

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

function namesLoopback(url: string): boolean {
  return URL.canParse(url) && isLoopback(new URL(url).hostname);
}

function notFromHere(header: string): HttpError {
  const expected =
    "expected localhost or a loopback address; without LIVEKIT_URL, this server answers this machine alone";
  return new HttpError(403, `${header}: ${expected}`, { headers: { "cache-control": "no-store" } });
}
