import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { forFile } from "../support/lifetimes.ts";
import { settingsFor } from "./support/run-main.ts";
import { WorkerParts } from "./support/worker-parts.ts";

// These tests start whole programs, which takes time on two busy cores.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

const ROOT = join(import.meta.dirname, "../..");
const parts = forFile(() => WorkerParts.start());

/** A folder as `npm run create` creates it, with its own `parley` command. */
async function makeAgent(): Promise<string> {
  const folder = join(parts.folder, "agent");
  await mkdir(join(folder, "node_modules/.bin"), { recursive: true });
  await mkdir(join(folder, "tools"));
  await symlink(join(ROOT, "src/cli/parley.ts"), join(folder, "node_modules/.bin/parley"));
  const scripts = { start: "parley worker", parley: "parley" };
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", scripts }));
  await writeFile(join(folder, "parley.config.ts"), 'export default { instructions: "Help." };\n');
  return folder;
}

const isThere = (url: string) =>
  fetch(`${url}/health`, { signal: AbortSignal.timeout(1_000) }).then(
    () => true,
    () => false,
  );

test.each([
  ["npm run worker in the clone", async () => ROOT, ["run", "worker", "--", "--json"]],
  ["npm start in an agent", makeAgent, ["start", "--", "--json"]],
  [
    "npm run parley -- worker in an agent",
    async () => join(parts.folder, "agent"),
    ["run", "parley", "--", "worker", "--json"],
  ],
])("a supervisor's SIGTERM to %s ends the worker as well", async (_, folder, args) => {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const settings = await settingsFor({
    livekit: parts.livekit,
    databaseUrl: parts.database.url,
    modelUrl: parts.model.url,
    folder: parts.folder,
  });
  const env = { PATH, HOME, NODE_COMPILE_CACHE, ...settings };
  const npm = spawn("npm", args, { cwd: await folder(), env, stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  npm.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await vi.waitFor(() => expect(said).toContain('"event":"ready"'), { timeout: 60_000, interval: 100 });
  const url = `http://127.0.0.1:${settings["HTTP_PORT"]}`;
  expect(await isThere(url)).toBe(true);

  npm.kill("SIGTERM");
  await once(npm, "exit");

  await expect.poll(() => isThere(url), { timeout: 20_000 }).toBe(false);
});
