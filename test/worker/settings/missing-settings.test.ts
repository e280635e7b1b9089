import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../../src/worker/settings/load-config.ts";
import { missingSettings } from "../../../src/worker/settings/missing-settings.ts";
import { tempFolder } from "../../support/temp-folder.ts";

test("an address for webhooks needs the secret that signs them", async () => {
  await using folder = await tempFolder();
  await writeFile(join(folder.path, "parley.config.ts"), 'export default { instructions: "x" };');
  const missing = async (env: NodeJS.ProcessEnv) => missingSettings(await loadConfig(env, folder.path), false);
  const WEBHOOK_URL = "http://127.0.0.1:9000/";

  expect(await missing({ WEBHOOK_URL, WEBHOOK_SECRET: `whsec_${Buffer.alloc(32).toString("base64")}` })).toEqual([]);
  expect(await missing({ WEBHOOK_URL })).toEqual([
    "WEBHOOK_SECRET: signs what is sent to WEBHOOK_URL; echo whsec_$(openssl rand -base64 32) makes one",
  ]);
});
