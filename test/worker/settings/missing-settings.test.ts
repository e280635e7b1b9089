import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../../src/worker/settings/load-config.ts";
import {
  missingKeys,
  missingPrices,
  missingSettings,
  modelsOf,
} from "../../../src/worker/settings/missing-settings.ts";
import { tempFolder } from "../../support/temp-folder.ts";

test("a webhook address needs the secret that signs webhooks", async () => {
  await using folder = await tempFolder();
  await writeFile(join(folder.path, "parley.config.ts"), 'export default { instructions: "x" };');
  const missing = async (env: NodeJS.ProcessEnv) => missingSettings(await loadConfig(env, folder.path), false);
  const WEBHOOK_URL = "http://127.0.0.1:9000/";

  expect(await missing({ WEBHOOK_URL, WEBHOOK_SECRET: `whsec_${Buffer.alloc(32).toString("base64")}` })).toEqual([]);
  expect(await missing({ WEBHOOK_URL })).toEqual([
    "WEBHOOK_SECRET: signs the requests to WEBHOOK_URL; create one with: echo whsec_$(openssl rand -base64 32)",
  ]);
});

test("with a budget in money the model for notes needs a price, too", async () => {
  await using folder = await tempFolder();
  const price = "{ input: 1, output: 1, cacheRead: 1, cacheWrite: 1 }";
  const missing = async (context: string, priced: string) => {
    const source = `export default { instructions: "x", budget: { session: { money: 1 } }, ${context}
      prices: { "claude-sonnet-5-5": ${price}, ${priced} } };`;
    const PARLEY_CONFIG = `${priced.length}-${context.length}.config.ts`;
    await writeFile(join(folder.path, PARLEY_CONFIG), source);
    return missingSettings(await loadConfig({ PARLEY_CONFIG }, folder.path), false);
  };
  const notes = 'context: { summaryModel: "claude-haiku-4-5" },';

  expect(await missing(notes, "")).toEqual([
    'prices: the price of "claude-haiku-4-5" in the config file, because budget limits money',
  ]);
  expect(await missing(notes, `"claude-haiku-4-5": ${price}`)).toEqual([]);
  expect(await missing("", "")).toEqual([]);
});

test("with a budget in money an agent's own model needs a price; without one, none does", () => {
  const price = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };
  const models = ["claude-opus-4-8", "claude-opus-4-8", undefined, "claude-haiku-4-5"];
  const prices = { "claude-haiku-4-5": price };

  expect(missingPrices({ budget: { identityPerDay: { money: 1 } }, prices }, models)).toEqual([
    'prices: the price of "claude-opus-4-8" in the config file, because budget limits money',
  ]);
  expect(missingPrices({ budget: { session: { tokens: 1 } }, prices }, models)).toEqual([]);
});

test("the keys that a list of models names are required, and with a budget in money its prices", async () => {
  await using folder = await tempFolder();
  const source = `export default { instructions: "x", budget: { session: { money: 1 } },
    model: [{ name: "first" }, { name: "second", baseUrl: "https://gw.example", key: "GATEWAY_KEY" }] };`;
  await writeFile(join(folder.path, "parley.config.ts"), source);
  const config = await loadConfig({}, folder.path);

  expect(missingSettings(config, false)).toEqual([
    'prices: the price of "first" in the config file, because budget limits money',
    'prices: the price of "second" in the config file, because budget limits money',
  ]);
  expect(missingKeys(modelsOf(config), {})).toEqual(["GATEWAY_KEY: the key that `model` names"]);
  expect(missingKeys(modelsOf(config), { GATEWAY_KEY: "a key" })).toEqual([]);
});
