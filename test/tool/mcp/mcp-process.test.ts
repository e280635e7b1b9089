import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { processStart } from "../../../src/worker/process/running-processes.ts";
import { STDIO_SERVER } from "./support.ts";

const HOST = new URL("../../fixtures/mcp/host.ts", import.meta.url).pathname;

test.each(["exit", "SIGKILL"] as const)(
  "a server's process ends with the job process, even if it does not end with its input (%s)",
  async (how) => {
    const folder = await mkdtemp(join(tmpdir(), "parley-mcp-"));
    const notes = join(folder, "notes");
    const host = spawn(process.execPath, [HOST, STDIO_SERVER, notes, "stays"], { stdio: ["pipe", "pipe", "inherit"] });
    await once(host.stdout, "data");
    const pid = Number((await readFile(notes, "utf8")).split(" ")[1]);
    expect(processStart(pid)).toBeDefined();

    if (how === "exit") host.stdin.write("\n");
    else host.kill("SIGKILL");

    await vi.waitFor(() => expect(processStart(pid)).toBeUndefined(), { timeout: 3_000 });
    await rm(folder, { recursive: true });
  },
);
