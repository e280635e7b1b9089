import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test, vi } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { forFile } from "../support/lifetimes.ts";
import type { Participant } from "../support/participant.ts";
import { jobProcesses } from "./support/run-main.ts";
import { WorkerParts } from "./support/worker-parts.ts";

// These tests start whole programs, which takes time on two busy cores.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const parts = forFile(() => WorkerParts.start());

const source = (file: string) => JSON.stringify(join(import.meta.dirname, "../../src", file));
/** A pool that notes when it is opened and closed, in which version, and in which process. */
const pool = (version: number, stop = "") => `
  import { appendFileSync } from "node:fs";
  import { registerWorkerHooks } from ${source("worker/hooks/worker-hooks.ts")};
  export const pool = { version: ${version}, isOpen: false };
  const note = (what: string, isOpen: boolean) => {
    pool.isOpen = isOpen;
    appendFileSync(${JSON.stringify(join(parts.folder, "events"))}, \`\${process.pid} \${what} ${version}\\n\`);
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

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, content] of Object.entries(files)) {
    const path = join(parts.folder, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.tmp`, content);
    await rename(`${path}.tmp`, path);
  }
}

async function startWorker(poolFile: string) {
  const folders = { toolsFolder: join(parts.folder, "tools"), agentsFolder: join(parts.folder, "agents") };
  await write({
    "package.json": '{ "type": "module" }',
    "parley.config.ts": `export default ${JSON.stringify({ instructions: "Help.", ...folders })};`,
    "tools/ask.ts": ask,
    "tools/_pool.ts": poolFile,
  });
  return parts.run({ env: { PARLEY_CONFIG: join(parts.folder, "parley.config.ts") } });
}

async function call(user: Participant): Promise<unknown> {
  parts.model.script([reply([toolUse("ask")]), reply([text("Done.")])]);
  await user.answerTo(await user.say("Ask"));
  const messages = parts.model.requests.at(-1)?.body["messages"] as { content: { content?: string }[] }[];
  return JSON.parse(messages.at(-1)?.content[0]?.content ?? "");
}

/** What happened in each process, in order. */
async function eventsOf(): Promise<Readonly<Record<number, string[]>>> {
  const lines = (await readFile(join(parts.folder, "events"), "utf8").catch(() => "")).trim().split("\n");
  const events: Record<number, string[]> = {};
  for (const line of lines) {
    const [pid, ...what] = line.split(" ");
    (events[Number(pid)] ??= []).push(what.join(" "));
  }
  return events;
}

async function untilEvent(pids: readonly number[], event: string): Promise<void> {
  const hasEvent = async () => {
    const events = await eventsOf();
    return pids.every((pid) => events[pid]?.includes(event));
  };
  await vi.waitUntil(hasEvent, { timeout: 20_000 });
}

test("each process opens its pool before it serves rooms, opens it again after a reload, and closes it at the end", async () => {
  const main = await startWorker(pool(1));
  const user = await parts.join(`room-${createId()}`, "ana");
  await user.until(() => user.all("configuration").length > 0, "the worker", 20_000);
  await user.configure({});

  const first = await call(user);
  const pids = [main.pid, ...jobProcesses(main.pid)];
  await untilEvent(pids, "start 1");
  await write({ "tools/_pool.ts": pool(2) });
  await untilEvent(pids, "start 2");
  const second = await call(user);
  await user.leave();
  main.kill("SIGINT");
  const { code, stderr } = await main.ended;

  expect([first, second]).toEqual([
    { version: 1, isOpen: true },
    { version: 2, isOpen: true },
  ]);
  const events = await eventsOf();
  expect(pids.map((pid) => events[pid])).toEqual(pids.map(() => ["start 1", "reload 1", "start 2", "stop 2"]));
  expect(code).toBe(0);
  expect(stderr).not.toContain("worker hook failed");
});

test("after a host process has been killed, the next one opens a pool of its own", async () => {
  const main = await startWorker(pool(1));
  await vi.waitUntil(() => jobProcesses(main.pid).length === 1, { timeout: 20_000 });
  const [killed = 0] = jobProcesses(main.pid);
  await untilEvent([killed], "start 1");

  process.kill(killed, "SIGKILL");
  const others = () => jobProcesses(main.pid).filter((pid) => pid !== killed);
  await vi.waitUntil(() => others().length > 0, { timeout: 20_000 });
  const [next = 0] = others();
  await untilEvent([next], "start 1");
  main.kill("SIGINT");
  await main.ended;

  const events = await eventsOf();
  expect([events[killed], events[next]]).toEqual([["start 1"], ["start 1", "stop 1"]]);
});

test("a pool that cannot be opened stops the worker's start, with an error that names the file", async () => {
  const failing = pool(1).replace('note("start", true)', '{ throw new Error("no database"); }');

  const starting = startWorker(failing);

  const file = join(parts.folder, "tools/_pool.ts");
  await expect(starting).rejects.toThrow(`parley: ${file}: onWorkerStart failed: no database (at ${file}:10:34)`);
});

test("a host process that cannot open its pool logs why, and is started again until it can", async () => {
  const down = join(parts.folder, "down");
  const isDown = `process.argv[1]?.includes("host-main") && existsSync(${JSON.stringify(down)})`;
  const failing = pool(1)
    .replace("appendFileSync }", "appendFileSync, existsSync }")
    .replace('note("start", true)', `{ if (${isDown}) throw new Error("no database"); note("start", true); }`);
  await writeFile(down, "");
  const main = await startWorker(failing);
  await vi.waitUntil(() => jobProcesses(main.pid).length === 1, { timeout: 20_000 });
  await vi.waitUntil(() => jobProcesses(main.pid).length === 0, { timeout: 20_000 });

  await rm(down);
  await vi.waitUntil(() => jobProcesses(main.pid).length === 1, { timeout: 20_000 });
  await untilEvent(jobProcesses(main.pid), "start 1");
  main.kill("SIGINT");
  const { stderr } = await main.ended;

  expect(stderr).toContain(`${join(parts.folder, "tools/_pool.ts")}: onWorkerStart failed: no database (at `);
});

test("a pool that cannot be closed is logged, and the worker stops as usual", async () => {
  const main = await startWorker(pool(1, 'throw new Error("already closed");'));

  main.kill("SIGTERM");
  const { code, stderr } = await main.ended;

  expect(code).toBe(0);
  expect(stderr).toMatch(/worker hook failed/);
  expect(stderr).toMatch(/tools\/_pool\.ts: onWorkerStop failed: already closed/);
});
