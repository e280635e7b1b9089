import { request as requestHttp, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { pinned, vetHost, type Network } from "./_network.ts";

const MAX_HEADER_BYTES = 16_384;

/**
 * One GET of one URL, without following redirects, on a connection of its own to an address that was vetted. The
 * caller reads or destroys the response. Only identity encoding is asked for: nothing is ever decompressed.
 */
export async function openResponse(url: URL, network: Network, signal: AbortSignal): Promise<IncomingMessage> {
  const addresses = await vetHost(url, network, signal);
  signal.throwIfAborted();
  const answer = Promise.withResolvers<IncomingMessage>();
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  const outgoing = request(url, {
    agent: false,
    lookup: pinned(addresses),
    signal,
    maxHeaderSize: MAX_HEADER_BYTES,
    headers: { accept: "text/html, text/*, application/json", "accept-encoding": "identity", "user-agent": "Parley" },
  });
  outgoing.on("response", answer.resolve);
  // After it the connection speaks something else than HTTP: there is no page to come, and no `response`.
  outgoing.on("upgrade", (_response, socket) => {
    socket.destroy();
    answer.reject(new SwitchedProtocol("The server wants to speak another protocol than HTTP"));
  });
  // Stays for the life of the request: a late socket error must not become an uncaught exception.
  outgoing.on("error", answer.reject);
  outgoing.end();
  try {
    return await answer.promise;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SwitchedProtocol) throw error;
    throw new Error(describe(error), { cause: error });
  }
}

class SwitchedProtocol extends Error {}

/** In words for the model; the raw message holds addresses. */
function describe(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  if (code === "HPE_HEADER_OVERFLOW") return "The server's headers are too large";
  if (code.startsWith("HPE_")) return "The server did not answer with valid HTTP";
  if (/CERT|SIGNATURE|ISSUER/.test(code)) return `The server's certificate is not valid (${code})`;
  return `The server could not be reached (${code})`;
}
