import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { tempFolder } from "../../support/temp-folder.ts";
import { freePortVariables } from "../../worker/support/run-main.ts";

// These tests start whole programs, which takes time on two busy cores.
vi.setConfig({ testTimeout: 60_000 });

const CLI = join(import.meta.dirname, "../../../src/cli/parley.ts");
const { PATH, NODE_COMPILE_CACHE } = process.env;

/** Starts `parley dev` in a folder with these files. */
async function startDev(files: Readonly<Record<string, string>>, settings: NodeJS.ProcessEnv = {}) {
  const folder = await tempFolder();
  await mkdir(join(folder.path, "tools"));
  await mkdir(join(folder.path, "node_modules"));
  const write = (file: string, text: string) => writeFile(join(folder.path, file), text);
  for (const [file, text] of Object.entries(files)) await write(file, text);
  const env = { PATH, NODE_COMPILE_CACHE, STT: "none", TTS: "none", ...(await freePortVariables()), ...settings };
  const dev = spawn(process.execPath, [CLI, "dev"], { cwd: folder.path, env });
  let said = "";
  dev.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  return {
    write,
    says: (text: string) => vi.waitFor(() => expect(said).toContain(text), { timeout: 20_000, interval: 50 }),
    /** Ends `parley dev` and returns everything that it printed. */
    end: async () => {
      dev.kill("SIGINT");
      await once(dev, "exit");
      await folder[Symbol.asyncDispose]();
      return said;
    },
  };
}

test("parley dev restarts after a change to a source file, and after no other change", async () => {
  const { write, says, end } = await startDev({ "parley.config.ts": "export default {};\n" });

  await says("instructions: ");
  await says("waiting for a change to restart");
  await write("node_modules/other.ts", "");
  await write("tools/broken.ts", "export default 1;\n");
  await says("tools/broken.ts changed, restarting");
  await write("parley.config.ts", 'export default { instructions: "Help." };\n');
  await says("the default export is not a tool");

  expect(await end()).not.toContain("other.ts");
});

test("parley dev lets a running worker reload its tools itself", async () => {
  const files = { "parley.config.ts": 'export default { instructions: "Help." };\n', "tools/_helper.ts": "" };
  // After loading its tools, the worker waits for its database, which does not exist.
  const { write, says, end } = await startDev(files, {
    LIVEKIT_URL: "ws://127.0.0.1:9",
    LIVEKIT_API_KEY: "key",
    LIVEKIT_API_SECRET: "secret",
    DATABASE_URL: "postgres://nobody@127.0.0.1:9/nothing",
    ANTHROPIC_API_KEY: "key",
  });
  await says("waiting for the database");

  await write("tools/broken.ts", "export default 1;\n");
  await says("loading changed files failed, keeping the previous versions");
  await write("parley.config.ts", 'export default { instructions: "Help!" };\n');
  await says("parley.config.ts changed, restarting");

  expect(await end()).not.toContain("tools/broken.ts has changed");
});
