import { request as requestHttp, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { pinned, vetHost, type Network } from "./_network.ts";

const MAX_HEADER_BYTES = 16_384;

/**
 * Sends one GET request on a separate connection to a checked address, and does not follow redirects. The caller must
 * read or destroy the response. The request accepts only the identity encoding, so nothing is decompressed.
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
  // After an upgrade, the connection no longer uses HTTP, so `response` will not be emitted.
  outgoing.on("upgrade", (_response, socket) => {
    socket.destroy();
    answer.reject(new SwitchedProtocol("The server switched to a protocol other than HTTP"));
  });
  // This listener is never removed: a late socket error must not become an uncaught exception.
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

/** Describes the error for the model. The raw message contains addresses. */
function describe(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  if (code === "HPE_HEADER_OVERFLOW") return "The server's headers are too large";
  if (code.startsWith("HPE_")) return "The server sent an invalid HTTP response";
  if (/CERT|SIGNATURE|ISSUER/.test(code)) return `The server's certificate is not valid (${code})`;
  return `The server could not be reached (${code})`;
}
