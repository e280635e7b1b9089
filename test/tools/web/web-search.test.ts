import type { IncomingHttpHeaders, RequestListener } from "node:http";
import { expect, test } from "vitest";
import { z } from "zod";
import webSearch from "../../../tools/web/web-search.ts";
import { runTool } from "../run-tool.ts";
import { listen } from "./local-server.ts";

const KEY = "very-secret-key";

/**
 * Answers like the three providers. The answers contain everything from the real ones that matters here, and some other
 * parts.
 */
const provider: RequestListener = (request, response) => {
  const url = new URL(request.url ?? "", "http://provider");
  let body = "";
  request.on("data", (chunk: Buffer) => (body += chunk.toString()));
  request.on("end", () => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(answers[url.pathname]?.(url, request.headers, body) || { error: "bad request" }));
  });
};

const answers: Record<string, (url: URL, headers: Record<string, unknown>, body: string) => unknown> = {
  "/res/v1/web/search": ({ searchParams }, headers) =>
    headers["x-subscription-token"] === KEY && {
      type: "search",
      query: { original: searchParams.get("q"), more_results_available: true },
      web: {
        type: "search",
        results: Array.from({ length: Number(searchParams.get("count")) }, (_, index) => ({
          type: "search_result",
          title: `Page ${index}`,
          url: `https://example.com/${index}`,
          description: "All about <strong>cats</strong> &amp; dogs",
          age: "2 days ago",
        })),
      },
    },
  "/search": ({ searchParams }, { authorization }, body) => {
    if (searchParams.get("format") === "json") {
      const hit = { url: "https://example.com/s", title: "S", content: "about  s", engine: "x", score: 1 };
      const bad = { url: "javascript:alert(1)", title: "bad", content: null };
      return {
        query: searchParams.get("q"),
        number_of_results: 42,
        results: [bad, ...Array(30).fill(hit)],
        answers: [],
      };
    }
    const { query, max_results: count } = JSON.parse(body) as { query: string; max_results: number };
    const hit = {
      title: "T",
      url: "https://example.com/t",
      content: "Array<string> in T",
      score: 0.9,
      raw_content: null,
    };
    return (
      authorization === `Bearer ${KEY}` && { query, answer: null, results: Array(count).fill(hit), response_time: 1 }
    );
  },
};

test("Brave's response is read, without its highlighting", async () => {
  await using server = await listen(provider);
  const settings = { provider: "brave", apiKey: KEY, baseUrl: `http://127.0.0.1:${server.port}/res/v1` };

  const found = await runTool(webSearch, { query: "cats & dogs", limit: 2 }, { settings });

  expect(found).toEqual({
    results: [
      { title: "Page 0", url: "https://example.com/0", snippet: "All about cats & dogs" },
      { title: "Page 1", url: "https://example.com/1", snippet: "All about cats & dogs" },
    ],
    totalResults: 2,
  });
  expect(server.requests).toEqual(["/res/v1/web/search?q=cats+%26+dogs&count=2"]);
});

test("the search provider receives the trace that the call belongs to", async () => {
  let headers: IncomingHttpHeaders = {};
  await using server = await listen((request, response) => {
    headers = request.headers;
    provider(request, response);
  });
  const settings = { provider: "brave", apiKey: KEY, baseUrl: `http://127.0.0.1:${server.port}/res/v1` };
  const traceHeaders = { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`, tracestate: "x=1" };

  await runTool(webSearch, { query: "cats" }, { settings, traceHeaders });

  expect(headers).toMatchObject(traceHeaders);
});

test("Tavily's response is read, with five results by default", async () => {
  await using server = await listen(provider);
  const settings = { provider: "tavily", apiKey: KEY, baseUrl: `http://127.0.0.1:${server.port}/` };
  expect(await runTool(webSearch, { query: "t" }, { settings })).toEqual({
    results: Array(5).fill({ title: "T", url: "https://example.com/t", snippet: "Array<string> in T" }),
    totalResults: 5,
  });
});

test("SearXNG's response is cut to the limit, and its total is passed on", async () => {
  await using server = await listen(provider);
  const settings = { provider: "searxng", baseUrl: `http://127.0.0.1:${server.port}` };
  expect(await runTool(webSearch, { query: "s", limit: 3 }, { settings })).toEqual({
    results: Array(3).fill({ title: "S", url: "https://example.com/s", snippet: "about s" }),
    totalResults: 42,
  });
});

test("an empty result is valid, too", async () => {
  await using server = await listen((_request, response) => response.end('{"type":"search","query":{}}'));
  const settings = { provider: "brave", apiKey: KEY, baseUrl: `http://127.0.0.1:${server.port}` };
  expect(await runTool(webSearch, { query: "zzz" }, { settings })).toEqual({ results: [], totalResults: 0 });
});

test("long titles and snippets are shortened", async () => {
  const hit = { title: "t".repeat(9_000), url: "https://example.com/", content: `${"s".repeat(499)}😀` };
  await using server = await listen((_request, response) => response.end(JSON.stringify({ results: [hit] })));
  const settings = { provider: "searxng", baseUrl: `http://127.0.0.1:${server.port}` };
  expect(await runTool(webSearch, { query: "long" }, { settings })).toMatchObject({
    results: [{ title: `${"t".repeat(200)}…`, snippet: `${"s".repeat(499)}…` }],
  });
});

test.each([
  { provider: "brave" },
  { provider: "tavily", apiKey: "" },
  { provider: "searxng" },
  { provider: "searxng", baseUrl: "ftp://example.com" },
  { provider: "searxng", baseUrl: "not a url" },
  { provider: "google", apiKey: "k" },
  { provider: "brave", apiKey: "k", apikey: "typo" },
])("the settings %j stop the start", async (settings) => {
  await expect(runTool(webSearch, { query: "x" }, { settings })).rejects.toThrow(z.ZodError);
});

test.each([
  [401, "HTTP 401: it rejected the configured key or format"],
  [403, "HTTP 403: it rejected the configured key or format"],
  [429, "HTTP 429: too many searches, try again later"],
  [500, "HTTP 500"],
  [302, "HTTP 302"],
])("status %i is reported without the provider's text or the key", async (status, message) => {
  await using server = await listen((_request, response) => {
    response.writeHead(status, { location: "/stolen" }).end(`your key ${KEY} is bad`);
  });
  const settings = { provider: "tavily", apiKey: KEY, baseUrl: `http://127.0.0.1:${server.port}` };
  const failure = await runTool(webSearch, { query: "x" }, { settings }).catch((error: unknown) => error);
  expect(String(failure)).toBe(`Error: The search provider answered with ${message}`);
  expect(server.requests).toEqual(["/search"]);
});

test.each([
  ["HTML", "<html>"],
  ["an array", "[]"],
  ["null", "null"],
  ["results of another shape", '{"results": {"0": 1}}'],
  ["numbers for text", '{"results": [{"title": 1, "url": 2, "content": 3}]}'],
  ["nothing", ""],
  ["two megabytes", JSON.stringify({ results: [], filler: "x".repeat(2_000_000) })],
])("a response of %s is an error in plain words", async (_name, body) => {
  await using server = await listen((_request, response) => response.end(body));
  const settings = { provider: "searxng", baseUrl: `http://127.0.0.1:${server.port}` };
  await expect(runTool(webSearch, { query: "x" }, { settings })).rejects.toThrow(
    "The search provider's answer could not be read",
  );
});

test("an unreachable provider is reported without its address", async () => {
  const settings = { provider: "searxng", baseUrl: "http://127.0.0.1:1025" };
  await expect(runTool(webSearch, { query: "x" }, { settings })).rejects.toThrow(
    /^The search provider could not be reached$/,
  );
});

test.each<[string, RequestListener]>([
  ["that never answers", () => {}],
  ["that stops in the middle", (_request, response) => response.write('{"results":')],
])("a provider %s ends with the signal's reason and the connection closes", async (_name, handle) => {
  await using server = await listen(handle);
  const settings = { provider: "searxng", baseUrl: `http://127.0.0.1:${server.port}` };
  const abort = new AbortController();
  const found = runTool(webSearch, { query: "x" }, { settings, signal: abort.signal });
  await expect.poll(() => server.requests.length).toBe(1);
  const stop = new Error("stop");
  abort.abort(stop);
  await expect(found).rejects.toBe(stop);
  await expect.poll(server.connectionCount).toBe(0);
});

test.each([
  {},
  { query: "" },
  { query: "   " },
  { query: "x".repeat(401) },
  { query: "x", limit: 0 },
  { query: "x", limit: 21 },
  { query: "x", limit: 1.5 },
  { query: "x", limit: "5" },
  { query: ["x"] },
])("the input %j is refused by the schema", async (input) => {
  await expect(runTool(webSearch, input)).rejects.toThrow(z.ZodError);
});
