import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { cappedFetch } from "../../../src/tool/mcp/open-transport.ts";

let tooLarge = 0;

async function fetched(contentType: string, pieces: readonly string[]): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": contentType });
    for (const [index, piece] of pieces.entries()) setTimeout(() => response.write(piece), index * 5);
    setTimeout(() => response.end(), pieces.length * 5);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const response = await cappedFetch(
      100,
      () => tooLarge++,
    )(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return await response.text();
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("a response may be as large as the limit, and no larger", async () => {
  expect(await fetched("application/json", ["x".repeat(60), "y".repeat(40)])).toHaveLength(100);
  await expect(fetched("application/json", ["x".repeat(60), "y".repeat(41)])).rejects.toThrow("larger than 100 bytes");
  expect(tooLarge).toBe(1);
});

test.each(["\n\n", "\r\n\r\n"])("a stream has no limit, but each of its events has (%j)", async (end) => {
  const event = `data: ${"x".repeat(80)}${end}`;
  const pieces = [event, event, event.slice(0, -1), end.slice(-1), event];
  expect(await fetched("text/event-stream; charset=utf-8", pieces)).toHaveLength(4 * event.length);
  const long = Array.from({ length: 4 }, () => `data: ${"x".repeat(30)}\n`);
  await expect(fetched("text/event-stream", long)).rejects.toThrow("larger than 100 bytes");
});
