import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { reasonOf } from "../../../src/tool/mcp/connection.ts";
import type { StdioServerConfig } from "../../../src/tool/mcp/mcp-config.ts";
import { StdioTransport } from "../../../src/tool/mcp/stdio-transport.ts";
import { processStart } from "../../../src/worker/process/running-processes.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { McpBench, STDIO_SERVER } from "./mcp-bench.ts";

const HOST = new URL("../../fixtures/mcp/host.ts", import.meta.url).pathname;

/**
 * Returns a function that lists the ids of the processes that are still running. These are the server's own process and
 * those that the server has started.
 */
async function processesOf(notes: string): Promise<() => number[]> {
  const pids = Array.from((await readFile(notes, "utf8")).matchAll(/^start\w* (\d+)/gm), ([, pid]) => Number(pid));
  return () => pids.filter((pid) => processStart(pid) !== undefined);
}

test.each(["exit", "SIGKILL"] as const)(
  "a server's process and its children end with the job process, even if they do not end with their input (%s)",
  async (how) => {
    await using folder = await tempFolder();
    const notes = join(folder.path, "notes");
    const host = spawn(process.execPath, [HOST, STDIO_SERVER, notes, "stays"], { stdio: ["pipe", "pipe", "inherit"] });
    await once(host.stdout, "data");
    const running = await processesOf(notes);
    expect(running()).toHaveLength(2);

    if (how === "exit") host.stdin.write("\n");
    else host.kill("SIGKILL");

    await vi.waitFor(() => expect(running()).toEqual([]), { timeout: 3_000 });
  },
);

test("a message to a server that is exiting fails only once the server has exited and its stderr was read", async () => {
  const script = "exec 0<&-; echo closed >&2; sleep 0.3; echo SHOP_KEY is not set >&2; exit 1";
  const stderr: string[] = [];
  const { promise: inputClosed, resolve: onInputClosed } = Promise.withResolvers<void>();
  const config: StdioServerConfig = { command: "sh", args: ["-c", script], env: {}, timeoutMs: 5_000, tools: ["*"] };
  const transport = new StdioTransport(config, {
    maxMessageBytes: 1_000,
    onStderr: (text) => {
      stderr.push(text);
      onInputClosed();
    },
  });
  const events: string[] = [];
  transport.onclose = () => events.push("closed");
  await transport.start();
  await inputClosed;

  await transport.send({ jsonrpc: "2.0", method: "notifications/initialized" }).catch((error: unknown) => {
    events.push(reasonOf(error));
  });

  expect(events).toEqual(["closed", "connection closed"]);
  expect(stderr.join("")).toBe("closed\nSHOP_KEY is not set\n");
});

test("a server's process ends with its children when its connection is closed", async () => {
  await using folder = await tempFolder();
  const notes = join(folder.path, "notes");
  const bench = new McpBench({ shop: { command: process.execPath, args: [STDIO_SERVER, notes, "stays"] } });
  await bench.until("shop_echo");
  const running = await processesOf(notes);
  expect(running()).toHaveLength(2);

  await bench[Symbol.asyncDispose]();

  await vi.waitFor(() => expect(running()).toEqual([]), { timeout: 3_000 });
});
