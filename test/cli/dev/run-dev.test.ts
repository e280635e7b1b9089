import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { tempFolder } from "../../support/temp-folder.ts";
import { freePortVariables } from "../../worker/support/run-main.ts";

// Whole programs: two cores that have other work to do need their time.
vi.setConfig({ testTimeout: 60_000 });

const CLI = join(import.meta.dirname, "../../../src/cli/parley.ts");

test("parley dev starts again after a change of a source, and of nothing else", async () => {
  await using folder = await tempFolder();
  await mkdir(join(folder.path, "tools"));
  await mkdir(join(folder.path, "node_modules"));
  const write = (file: string, text: string) => writeFile(join(folder.path, file), text);
  await write("parley.config.ts", "export default {};\n");
  const env = { PATH: process.env["PATH"], ...(await freePortVariables()) };
  const dev = spawn(process.execPath, [CLI, "dev"], { cwd: folder.path, env });
  let said = "";
  dev.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const says = (text: string) => vi.waitFor(() => expect(said).toContain(text), { timeout: 20_000, interval: 50 });

  await says("instructions: ");
  await says("starts again after a change");
  await write("node_modules/other.ts", "");
  await write("tools/broken.ts", "export default 1;\n");
  await says("tools/broken.ts has changed: starting again");
  await write("parley.config.ts", 'export default { instructions: "Help." };\n');
  await says("the default export is not a tool");
  dev.kill("SIGINT");
  await once(dev, "exit");

  expect(said).not.toContain("other.ts");
});
