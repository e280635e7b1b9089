import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { processStart } from "../../../src/worker/process/running-processes.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { McpBench, STDIO_SERVER } from "./support.ts";

const HOST = new URL("../../fixtures/mcp/host.ts", import.meta.url).pathname;

/** Those of the server and of what it has started that still run. */
async function processesOf(notes: string): Promise<() => number[]> {
  const pids = Array.from((await readFile(notes, "utf8")).matchAll(/^start\w* (\d+)/gm), ([, pid]) => Number(pid));
  return () => pids.filter((pid) => processStart(pid) !== undefined);
}

test.each(["exit", "SIGKILL"] as const)(
  "a server's process, and what it has started, end with the job process, even if they do not end with their input (%s)",
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

test("a server's process takes what it has started with it when its connection is closed", async () => {
  await using folder = await tempFolder();
  const notes = join(folder.path, "notes");
  const bench = new McpBench({ shop: { command: process.execPath, args: [STDIO_SERVER, notes, "stays"] } });
  await bench.until("shop_echo");
  const running = await processesOf(notes);
  expect(running()).toHaveLength(2);

  await bench[Symbol.asyncDispose]();

  await vi.waitFor(() => expect(running()).toEqual([]), { timeout: 3_000 });
});
