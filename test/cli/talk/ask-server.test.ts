import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const CLI = fileURLToPath(new URL("../../../src/cli/parley.ts", import.meta.url));

/** Starts a stand-in for the part of Parley's HTTP server that issues tokens. */
async function serve(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url === "/token") response.end(JSON.stringify({ token: "t", livekitUrl: "ws://x" }));
    else answer(response);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function parley(...args: readonly string[]): Promise<readonly unknown[]> {
  const { promise, resolve } = Promise.withResolvers<readonly unknown[]>();
  execFile(process.execPath, [CLI, ...args], (error, _stdout, stderr) => resolve([error?.code, stderr]));
  return promise;
}

const COMMANDS = [
  ["erase", ["--identity", "ann"], "/participant/ann"],
  ["export", ["--room", "kitchen"], "/session/kitchen/transcript"],
] as const;

test.each(COMMANDS)("a response that breaks off ends parley %s with one sentence", async (name, args, path) => {
  const url = await serve((response) => {
    response.writeHead(200, { "content-length": "1000" });
    response.write('{"turns": 1', () => response.destroy());
  });

  const ended = await parley(name, ...args, "--http", url);

  expect(ended).toEqual([1, `parley ${name}: The response of ${url}${path} was cut off: try again\n`]);
});

test.each(COMMANDS)(
  "a server that goes away after issuing a token ends parley %s with one sentence",
  async (name, args) => {
    const url = await serve((response) => response.destroy());

    const ended = await parley(name, ...args, "--http", url);

    const what = `Parley does not answer at ${url}. Start it with npm start, or name it with --http.`;
    expect(ended).toEqual([1, `parley ${name}: ${what}\n`]);
  },
);
