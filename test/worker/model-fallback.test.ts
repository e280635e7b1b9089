import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { startModelServer } from "../../src/model-server/model-server.ts";
import { httpError, reply, text } from "../../src/model-server/step.ts";
import { forFile } from "../support/lifetimes.ts";
import { WorkerParts } from "./support/worker-parts.ts";

const GATEWAY_KEY = "gw-0123456789abcdef";
const parts = forFile(() => WorkerParts.start());
const gateway = forFile(() => startModelServer({ apiKey: GATEWAY_KEY }));

async function run(env: NodeJS.ProcessEnv) {
  const PARLEY_CONFIG = join(parts.folder, "fallback.config.ts");
  const model = [{}, { name: "gateway-model", baseUrl: gateway.url, key: "GATEWAY_KEY" }];
  await writeFile(PARLEY_CONFIG, `export default ${JSON.stringify({ instructions: "Be brief.", model })};`);
  return parts.run({ env: { PARLEY_CONFIG, LOG_FORMAT: "json", LOG_LEVEL: "info", ...env } });
}

test("while the second model of a list answers, /ready, the log and the metrics show that the first one fails", async () => {
  const worker = await run({ GATEWAY_KEY });
  const { httpUrl = "" } = await worker.ready;
  const ana = await parts.join(`room-${createId()}`, "ana");
  await ana.until(() => ana.all("configuration").length === 1, "the worker", 20_000);
  await ana.configure({});
  parts.model.script([httpError(401)]);
  gateway.script([reply([text("Here I am.")])]);

  const answer = await ana.answerTo(await ana.say("Are you there?"), 20_000);
  const ready = async () => (await fetch(`${httpUrl}/ready`)).json();
  const fallbacks = async () =>
    /^parley_model_fallbacks\S*\{.*\} \d+/mu.exec(await (await fetch(`${httpUrl}/metrics`)).text())?.[0];

  expect(answer).toBe("Here I am.");
  expect(ana.all("error_message")).toEqual([]);
  await expect.poll(ready).toMatchObject({ status: "ready", model: "failed" });
  await expect.poll(fallbacks, { timeout: 15_000 }).toMatch(/claude-sonnet-5-5.* 1$/u);
  expect(await fallbacks()).toContain('error_type="authentication"');
  worker.kill("SIGTERM");
  const { stdout, stderr } = await worker.ended;
  const refusals = stderr.split("\n").filter((line) => line.includes("model refuses calls"));
  expect(refusals.map((line) => JSON.parse(line) as object)).toMatchObject([
    { model: "claude-sonnet-5-5", status: 401 },
  ]);
  expect(stdout + stderr).not.toContain(GATEWAY_KEY);
}, 60_000);

test("a worker does not start without the key that a model of the list names", async () => {
  await expect(run({})).rejects.toThrow("GATEWAY_KEY: the key that `model` names");
}, 60_000);
