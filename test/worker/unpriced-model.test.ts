import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../support/temp-folder.ts";
import { freePortVariables, runMain } from "./support/run-main.ts";

const DEFINE_AGENT = join(import.meta.dirname, "../../src/agent/define-agent.ts");

test("with a budget in money the start fails if an agent's own model has no price", async () => {
  await using folder = await tempFolder();
  for (const name of ["agents", "tools"]) await mkdir(join(folder.path, name));
  const price = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };
  const config = {
    instructions: "Help.",
    budget: { session: { money: 1 } },
    model: { name: "claude-sonnet-5-5" },
    prices: { "claude-sonnet-5-5": price },
    agentsFolder: join(folder.path, "agents"),
    toolsFolder: join(folder.path, "tools"),
  };
  await writeFile(
    join(folder.path, "agents/billing.ts"),
    [
      `import { defineAgent } from ${JSON.stringify(DEFINE_AGENT)};`,
      'export default defineAgent({ instructions: "Bill.", model: { name: "claude-opus-4-8" } });',
    ].join("\n"),
  );
  const file = join(folder.path, "parley.config.mjs");
  await writeFile(file, `export default ${JSON.stringify(config)};`);

  const main = runMain({
    ...(await freePortVariables()),
    PARLEY_CONFIG: file,
    PARLEY_DATA_DIR: folder.path,
    TTS: "none",
  });
  const { code, stderr } = await main.ended;

  expect(code).toBe(1);
  expect(stderr).toContain(
    'parley: Required but not set:\nprices: the price of "claude-opus-4-8" in the config file, because budget limits money\n',
  );
});
