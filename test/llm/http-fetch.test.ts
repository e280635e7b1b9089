import { createServer, type RequestListener, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { createHttpFetch } from "../../src/llm/http-fetch.ts";

async function listen(handle: RequestListener): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer(handle).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  onTestFinished(() => server.closeAllConnections());
  await once(server, "listening");
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const post = (send: typeof fetch, url: string) => send(url, { method: "POST", body: "{}" });

test("a request whose kept-alive connection is closed is sent again", async () => {
  let requests = 0;
  const { url } = await listen((request, response) => {
    requests++;
    if (requests === 2) request.socket.resetAndDestroy();
    else response.end(`answer ${requests}`);
  });
  const send = createHttpFetch();

  expect(await (await post(send, url)).text()).toBe("answer 1");
  // The connection stays open for a moment after the body ends.
  await new Promise(setImmediate);
  expect(await (await post(send, url)).text()).toBe("answer 3");
});

test("a new connection that is closed is an error", async () => {
  let requests = 0;
  const { url } = await listen((request) => {
    requests++;
    request.socket.resetAndDestroy();
  });

  await expect(post(createHttpFetch(), url)).rejects.toMatchObject({ code: "ECONNRESET" });
  expect(requests).toBe(1);
});

test("a redirect is not followed", async () => {
  const { url } = await listen((request, response) => response.writeHead(307, { location: `${request.url}2` }).end());

  expect(await post(createHttpFetch(), url)).toMatchObject({ ok: false, status: 307 });
});

test("no compressed response is requested", async () => {
  const { url } = await listen((request, response) => response.end(request.headers["accept-encoding"]));

  expect(await (await post(createHttpFetch(), url)).text()).toBe("identity");
});

test("an abort while the response is read ends the reading, without an uncaught error", async () => {
  const { url } = await listen((_, response) => response.write("first"));
  const controller = new AbortController();
  const response = await createHttpFetch()(url, { method: "POST", body: "{}", signal: controller.signal });
  const reading = response.text();
  controller.abort();

  await expect(reading).rejects.toThrow("aborted");
});

test("a proxy is used in the same way as in Node's fetch", async () => {
  const { url } = await listen((request, response) => response.end(`by proxy to ${request.url}`));
  vi.stubEnv("NODE_USE_ENV_PROXY", "1");
  vi.stubEnv("HTTP_PROXY", url);
  vi.stubEnv("NO_PROXY", "");
  onTestFinished(() => void vi.unstubAllEnvs());

  const response = await post(createHttpFetch(), "http://model.test/v1/messages");
  expect(await response.text()).toBe("by proxy to http://model.test/v1/messages");
});
