import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { fetchToken } from "../../../src/cli/talk/fetch-token.ts";
import { parseOptions, type TalkOptions } from "../../../src/cli/talk/options.ts";

function optionsFor(httpUrl: string, environment: Record<string, string> = {}): TalkOptions {
  return parseOptions(["--http", httpUrl, "--room", "r", "--identity", "i"], environment) as TalkOptions;
}

interface Seen {
  readonly authorization: string;
  readonly body: unknown;
}

async function serve(status: number, body: string): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server: Server = createServer((request, response) => {
    void json(request).then((asked) => {
      seen.push({ authorization: request.headers.authorization ?? "", body: asked });
      response.writeHead(status, { "content-type": "application/json" }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

test("the token and LiveKit's address are read, and the secret is sent", async () => {
  const { url, seen } = await serve(200, JSON.stringify({ token: "t", livekitUrl: "ws://x" }));

  expect(await fetchToken(optionsFor(url, { TOKEN_SECRET: "s" }))).toEqual({ token: "t", livekitUrl: "ws://x" });
  expect(seen).toEqual([{ authorization: "Bearer s", body: { room: "r", identity: "i" } }]);
});

test("what the command line says about the participant is sent", async () => {
  const { url, seen } = await serve(200, JSON.stringify({ token: "t", livekitUrl: "ws://x" }));

  await fetchToken({ ...optionsFor(url), about: { name: "Ana", agent: "billing", attributes: { tier: "gold" } } });

  expect(seen[0]?.body).toEqual({
    room: "r",
    identity: "i",
    name: "Ana",
    agent: "billing",
    attributes: { tier: "gold" },
  });
});

test("a refusal says why", async () => {
  const { url } = await serve(403, JSON.stringify({ error: "set TOKEN_SECRET" }));

  await expect(fetchToken(optionsFor(url))).rejects.toThrow(`${url}/token answered 403: set TOKEN_SECRET`);
});

test("a different server is not mistaken for Parley", async () => {
  const { url } = await serve(200, "<html>");

  await expect(fetchToken(optionsFor(url))).rejects.toThrow("returned no token");
});

test("without a server, one clear sentence is printed", async () => {
  await expect(fetchToken(optionsFor("http://127.0.0.1:1"))).rejects.toThrow(
    "Parley does not answer at http://127.0.0.1:1.",
  );
});
