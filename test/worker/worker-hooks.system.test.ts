import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test, vi } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import type { Participant } from "../support/participant.ts";
import { jobProcesses } from "./support/run-main.ts";
import { WorkerParts } from "./support/worker-parts.ts";

// These tests start whole programs, which takes time on two busy cores.
vi.setConfig({ testTimeout: 60_000 });

const source = (file: string) => JSON.stringify(join(import.meta.dirname, "../../src", file));
/** A pool that notes when it is opened and closed, in which version, and in which process. */
const pool = (folder: string, version: number, stop = "") => `
  import { appendFileSync } from "node:fs";
  import { registerWorkerHooks } from ${source("worker/hooks/worker-hooks.ts")};
  export const pool = { version: ${version}, isOpen: false };
  const note = (what: string, isOpen: boolean) => {
    pool.isOpen = isOpen;
    appendFileSync(${JSON.stringify(join(folder, "events"))}, \`\${process.pid} \${what} ${version}\\n\`);
  };
  registerWorkerHooks(import.meta, {
    onWorkerStart: () => note("start", true),
    onWorkerStop: () => { note("stop", false); ${stop} },
    onReload: () => note("reload", false),
  });`;
const ask = `
  import { defineTool } from ${source("tool/define-tool.ts")};
  import { pool } from "./_pool.ts";
  export default defineTool({ description: "D.", input: { type: "object" }, run: () => pool });`;

async function write(parts: WorkerParts, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, content] of Object.entries(files)) {
    const path = join(parts.folder, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.tmp`, content);
    await rename(`${path}.tmp`, path);
  }
}

async function startWorker(parts: WorkerParts, poolFile: string) {
  const folders = { toolsFolder: join(parts.folder, "tools"), agentsFolder: join(parts.folder, "agents") };
  await write(parts, {
    "package.json": '{ "type": "module" }',
    "parley.config.ts": `export default ${JSON.stringify({ instructions: "Help.", ...folders })};`,
    "tools/ask.ts": ask,
    "tools/_pool.ts": poolFile,
  });
  return parts.run({ env: { PARLEY_CONFIG: join(parts.folder, "parley.config.ts") } });
}

async function call(parts: WorkerParts, user: Participant): Promise<unknown> {
  parts.model.script([reply([toolUse("ask")]), reply([text("Done.")])]);
  await user.answerTo(await user.say("Ask"));
  const messages = parts.model.requests.at(-1)?.body["messages"] as { content: { content?: string }[] }[];
  return JSON.parse(messages.at(-1)?.content[0]?.content ?? "");
}

/** What happened in each process, in order. */
async function eventsOf({ folder }: WorkerParts): Promise<Readonly<Record<number, string[]>>> {
  const lines = (await readFile(join(folder, "events"), "utf8").catch(() => "")).trim().split("\n");
  const events: Record<number, string[]> = {};
  for (const line of lines) {
    const [pid, ...what] = line.split(" ");
    (events[Number(pid)] ??= []).push(what.join(" "));
  }
  return events;
}

async function untilEvent(parts: WorkerParts, pids: readonly number[], event: string): Promise<void> {
  const hasEvent = async () => {
    const events = await eventsOf(parts);
    return pids.every((pid) => events[pid]?.includes(event));
  };
  await vi.waitUntil(hasEvent, { timeout: 20_000 });
}

test("each process opens its pool before it serves rooms, opens it again after a reload, and closes it at the end", async () => {
  await using parts = await WorkerParts.start();
  const main = await startWorker(parts, pool(parts.folder, 1));
  const user = await parts.join(`room-${createId()}`, "ana");
  await user.until(() => user.all("configuration").length > 0, "the worker", 20_000);
  await user.configure({});

  const first = await call(parts, user);
  const pids = [main.pid, ...jobProcesses(main.pid)];
  await untilEvent(parts, pids, "start 1");
  await write(parts, { "tools/_pool.ts": pool(parts.folder, 2) });
  await untilEvent(parts, pids, "start 2");
  const second = await call(parts, user);
  await user.leave();
  main.kill("SIGINT");
  const { code, stderr } = await main.ended;

  expect([first, second]).toEqual([
    { version: 1, isOpen: true },
    { version: 2, isOpen: true },
  ]);
  const events = await eventsOf(parts);
  expect(pids.map((pid) => events[pid])).toEqual(pids.map(() => ["start 1", "reload 1", "start 2", "stop 2"]));
  expect(code).toBe(0);
  expect(stderr).not.toContain("worker hook failed");
});

test("after a host process has been killed, the next one opens a pool of its own", async () => {
  await using parts = await WorkerParts.start();
  const main = await startWorker(parts, pool(parts.folder, 1));
  await vi.waitUntil(() => jobProcesses(main.pid).length === 1, { timeout: 20_000 });
  const [killed = 0] = jobProcesses(main.pid);
  await untilEvent(parts, [killed], "start 1");

  process.kill(killed, "SIGKILL");
  const others = () => jobProcesses(main.pid).filter((pid) => pid !== killed);
  await vi.waitUntil(() => others().length > 0, { timeout: 20_000 });
  const [next = 0] = others();
  await untilEvent(parts, [next], "start 1");
  main.kill("SIGINT");
  await main.ended;

  const events = await eventsOf(parts);
  expect([events[killed], events[next]]).toEqual([["start 1"], ["start 1", "stop 1"]]);
});

test("a pool that cannot be opened stops the worker's start, with an error that names the file", async () => {
  await using parts = await WorkerParts.start();
  const failing = pool(parts.folder, 1).replace('note("start", true)', '{ throw new Error("no database"); }');

  const starting = startWorker(parts, failing);

  const file = join(parts.folder, "tools/_pool.ts");
  await expect(starting).rejects.toThrow(`parley: ${file}: onWorkerStart failed: no database (at ${file}:10:34)`);
});

test("a pool that cannot be closed is logged, and the worker stops as usual", async () => {
  await using parts = await WorkerParts.start();
  const main = await startWorker(parts, pool(parts.folder, 1, 'throw new Error("already closed");'));

  main.kill("SIGTERM");
  const { code, stderr } = await main.ended;

  expect(code).toBe(0);
  expect(stderr).toMatch(/worker hook failed/);
  expect(stderr).toMatch(/tools\/_pool\.ts: onWorkerStop failed: already closed/);
});
