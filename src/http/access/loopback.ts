import { type FastifyInstance } from "fastify";
import { isIPv4 } from "node:net";
import { refuse } from "./refuse.ts";
import { type Refusal } from "./room-access.ts";

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
export function answerThisMachineOnly(app: FastifyInstance): void {
  app.addHook("onRequest", async (request, reply) => {
    const { host = "", origin } = request.headers;
    if (!namesLoopback(`http://${host}`)) return refuse(reply, notFromHere("Host"));
    if (origin !== undefined && !namesLoopback(origin)) return refuse(reply, notFromHere("Origin"));
    return undefined;
  });
}

function namesLoopback(url: string): boolean {
  return URL.canParse(url) && isLoopback(new URL(url).hostname);
}

function notFromHere(header: string): Refusal {
  return {
    status: 403,
    error: `${header}: expected localhost or a loopback address; without LIVEKIT_URL, this server answers this machine alone`,
  };
}
