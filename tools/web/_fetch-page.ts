import type { IncomingMessage } from "node:http";
import type { Network } from "./_network.ts";
import { openResponse } from "./_open-response.ts";
import { isText, mediaType, pageText } from "./_page-text.ts";
import { parsePageUrl } from "./_page-url.ts";
import { readBody } from "./_read-body.ts";

const MAX_REDIRECTS = 5;
const MAX_BODY_BYTES = 1_000_000;
const REDIRECTS: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308]);

export interface Page {
  /** The URL after redirects. */
  readonly url: string;
  readonly status: number;
  readonly contentType: string;
  readonly content: string;
  readonly truncated: boolean;
}

/**
 * Fetches a page from `network` only; every redirect is checked like a new URL. The connection is closed when this
 * returns, throws, or is aborted. An abort rejects with the signal's reason.
 */
export async function fetchPage(address: string, network: Network, signal: AbortSignal): Promise<Page> {
  let url = parsePageUrl(address);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await openResponse(url, network, signal);
    try {
      const { location } = response.headers;
      if (!REDIRECTS.has(response.statusCode) || location === undefined) return await readPage(url, response, signal);
      url = parsePageUrl(location, url);
    } finally {
      response.destroy();
    }
  }
  throw new Error(`The page redirects more than ${MAX_REDIRECTS} times`);
}

async function readPage(url: URL, response: IncomingMessage, signal: AbortSignal): Promise<Page> {
  const header = response.headers["content-type"] ?? "";
  const contentType = mediaType(header);
  const encoding = response.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity")
    throw new Error(`The server sent compressed content (${encoding.slice(0, 20)}), which cannot be read`);
  if (!isText(contentType))
    throw new Error(`Only text can be read, but the content type is ${contentType.slice(0, 80) || "missing"}`);
  const body = await readWhole(response, signal);
  const { content, truncated } = pageText(body.bytes, header);
  const status = response.statusCode ?? 0;
  return { url: url.href, status, contentType, content, truncated: truncated || body.truncated };
}

async function readWhole(response: IncomingMessage, signal: AbortSignal) {
  try {
    return await readBody(response, MAX_BODY_BYTES);
  } catch (error) {
    signal.throwIfAborted();
    throw new Error("The connection was lost before the page was complete", { cause: error });
  }
}
