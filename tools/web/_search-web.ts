import type { ToolContext } from "parley";
import { readBody } from "./_read-body.ts";
import { PROVIDERS, type Answer, type Hit } from "./_search-providers.ts";
import type { SearchSettings } from "./_search-settings.ts";

const MAX_BODY_BYTES = 1_000_000;
const MAX_URL = 2_048;
const MAX_TITLE = 200;
const MAX_SNIPPET = 500;

export interface SearchResults {
  readonly results: readonly Hit[];
  readonly totalResults: number;
}

/**
 * Sends one request to the provider, without retries. Does not follow redirects, because a redirect could send the key
 * to another server.
 */
export async function searchWeb(
  search: { readonly query: string; readonly limit: number },
  settings: SearchSettings,
  { signal, traceHeaders }: Pick<ToolContext, "signal" | "traceHeaders">,
): Promise<SearchResults> {
  const provider = PROVIDERS[settings.provider];
  const request = provider.request(search, settings);
  for (const [name, value] of Object.entries(traceHeaders)) request.headers.set(name, value);
  const { hits, total = 0 } = await ask(request, provider.read, signal);
  const results = hits
    .filter(({ url }) => isWebUrl(url))
    .slice(0, search.limit)
    .map(tidy);
  return { results, totalResults: Math.max(total, results.length) };
}

async function ask(request: Request, read: (body: unknown) => Answer, signal: AbortSignal): Promise<Answer> {
  const response = await send(request, signal);
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new Error(`The search provider answered with ${problem(response.status)}`);
  }
  try {
    const { bytes, truncated } = await readBody(response.body, MAX_BODY_BYTES);
    if (truncated) throw new Error("too large");
    return read(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (error) {
    signal.throwIfAborted();
    throw new Error("The search provider's answer could not be read", { cause: error });
  }
}

async function send(request: Request, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(request, { signal, redirect: "manual" });
  } catch (error) {
    signal.throwIfAborted();
    throw new Error("The search provider could not be reached", { cause: error });
  }
}

/** The provider's own text is omitted, because it may quote the key. */
function problem(status: number): string {
  if (status === 401 || status === 403) return `HTTP ${status}: it rejected the configured key or format`;
  if (status === 429) return "HTTP 429: too many searches, try again later";
  return `HTTP ${status}`;
}

function isWebUrl(url: string): boolean {
  return url.length <= MAX_URL && /^https?:\/\//i.test(url);
}

function tidy({ title, url, snippet }: Hit): Hit {
  return { title: shorten(title, MAX_TITLE), url, snippet: shorten(snippet, MAX_SNIPPET) };
}

function shorten(text: string, maxLength: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= maxLength ? line : `${line.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
