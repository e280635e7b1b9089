import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { preview } from "vite";
import { expect, test } from "vitest";
import { VITE } from "../../scripts/ensure-page.ts";
import { reply, text, toolUse } from "../../src/testing/model-server/step.ts";
import { forFile } from "../support/lifetimes.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { PageWorld, say } from "./page-world.ts";

const world = forFile(() => PageWorld.start());
const folder = forFile(tempFolder);
const EXAMPLES = join(import.meta.dirname, "../../examples");

const CASES = [
  ["react-minimal", "set_theme", { theme: "dark" }, "document.documentElement.style.colorScheme", "dark"],
  ["vanilla", "set_title", { title: "Hello" }, "document.title", "Hello"],
] as const;

test.each(CASES)("the example %s offers its tool, and shows the answer", async (...example) => {
  const [name, tool, input, state, expected] = example;
  const [root, configFile] = [join(EXAMPLES, name), join(EXAMPLES, "vite.config.ts")];
  const build = { outDir: join(folder.path, name) };
  const env = { ...process.env, NODE_ENV: "production" };
  const args = [VITE, "build", root, "--config", configFile, "--outDir", build.outDir, "--logLevel", "warn"];
  await promisify(execFile)(process.execPath, args, { env });
  const proxy = { "/token": { target: world.url, headers: world.headers, changeOrigin: true } };
  await using server = Object.assign(
    await preview({ configFile, root, build, logLevel: "silent", preview: { port: 0, host: "127.0.0.1", proxy } }),
    {
      [Symbol.asyncDispose]: () => server.close(),
    },
  );
  const page = await world.open({}, server.resolvedUrls?.local[0]);
  world.model.script([reply([toolUse(tool, input)]), reply([text("So be it.")])]);

  await page.getByRole("button", { name: "Send" }).and(page.locator(":enabled")).waitFor();
  await say(page, "Please do");

  await page.getByText("So be it.").waitFor();
  expect(await page.evaluate(state)).toBe(expected);
});
