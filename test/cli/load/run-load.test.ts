import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);

/** Starts a stand-in for Parley's HTTP server on this machine. It says that its LiveKit is on another machine. */
async function startServer() {
  const server = createServer((_, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ token: "t", livekitUrl: "wss://parley.example.com" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return { port: String(port), [Symbol.asyncDispose]: async () => void server.close() };
}

test("without --url no room is created on another machine's LiveKit", async () => {
  await using server = await startServer();
  const args = ["src/cli/load.ts", "--rooms", "2", "--json"];

  const failed = run(process.execPath, args, { env: { ...process.env, HTTP_PORT: server.port } });

  const { code, stdout } = (await failed.catch((error: unknown) => error)) as { code: number; stdout: string };
  expect(code).toBe(1);
  const why = `The worker's LiveKit (wss://parley.example.com) is not on this machine. To load it anyway, add --url http://127.0.0.1:${server.port}`;
  const report = JSON.parse(stdout) as { readonly errors: unknown };
  expect(report.errors).toEqual({ [why]: 2 });
  expect(report).not.toHaveProperty("join");
});
