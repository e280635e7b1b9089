import { z } from "zod";
import { htmlToText } from "./_html-text.ts";
import type { SearchSettings } from "./_search-settings.ts";

/** A hit as the provider returns it: plain text of any length, and any URL. */
export interface Hit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

export interface Answer {
  readonly hits: readonly Hit[];
  /** The total number of hits, if the provider reports it. */
  readonly total?: number;
}

interface Search {
  readonly query: string;
  readonly limit: number;
}

/** What differs between search APIs: how to send a request, and how to read the answer. */
export interface Provider {
  readonly request: (search: Search, settings: SearchSettings) => Request;
  readonly read: (body: unknown) => Answer;
}

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? "");
const braveAnswer = z.object({
  web: z.object({ results: z.array(z.object({ title: text, url: text, description: text })) }).optional(),
});
const tavilyAnswer = z.object({ results: z.array(z.object({ title: text, url: text, content: text })) });
const searxngAnswer = tavilyAnswer.extend({ number_of_results: z.number().optional() });

const brave: Provider = {
  request: ({ query, limit }, { baseUrl, apiKey = "" }) => {
    const url = endpoint(baseUrl ?? "https://api.search.brave.com/res/v1", "web/search");
    url.search = new URLSearchParams({ q: query, count: String(limit) }).toString();
    return new Request(url, { headers: { accept: "application/json", "x-subscription-token": apiKey } });
  },
  read: (body) => {
    const { results } = braveAnswer.parse(body).web ?? { results: [] };
    return { hits: results.map((hit) => ({ title: plain(hit.title), url: hit.url, snippet: plain(hit.description) })) };
  },
};

const tavily: Provider = {
  request: ({ query, limit }, { baseUrl, apiKey }) =>
    new Request(endpoint(baseUrl ?? "https://api.tavily.com", "search"), {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ query, max_results: limit }),
    }),
  read: (body) => ({
    hits: tavilyAnswer.parse(body).results.map(({ content, ...hit }) => ({ ...hit, snippet: content })),
  }),
};

const searxng: Provider = {
  request: ({ query }, { baseUrl = "", apiKey }) => {
    const url = endpoint(baseUrl, "search");
    url.search = new URLSearchParams({ q: query, format: "json" }).toString();
    return new Request(url, apiKey === undefined ? {} : { headers: { authorization: `Bearer ${apiKey}` } });
  },
  read: (body) => {
    const { results, number_of_results: total = 0 } = searxngAnswer.parse(body);
    return { hits: results.map(({ content, ...hit }) => ({ ...hit, snippet: content })), total };
  },
};

export const PROVIDERS: Readonly<Record<SearchSettings["provider"], Provider>> = { brave, tavily, searxng };

function endpoint(baseUrl: string, path: string): URL {
  return new URL(path, baseUrl.endsWith("/") ? baseUrl : `${baseUrl}/`);
}

/** Brave marks matched words with HTML tags and escapes the rest. */
function plain(html: string): string {
  return htmlToText(html).text;
}
