import { type FastifyInstance } from "fastify";
import { isIPv4 } from "node:net";
import { HttpError } from "../http-error.ts";

/** Whether only this machine is reached by that name, whatever a name server says. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, "");
  if (isIPv4(name)) return name.startsWith("127.");
  return name === "localhost" || name.endsWith(".localhost") || name === "::1" || name === "[::1]";
}

/**
 * Refuses what a web page of elsewhere has a browser send here: under its own name, which it had resolved to this
 * machine (DNS rebinding), or from its own origin. A page of a sandbox or a file has the origin `null`; programs have none.
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
