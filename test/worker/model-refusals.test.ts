import { expect, test } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { httpError, reply, text } from "../../src/model-server/step.ts";
import { forFile } from "../support/lifetimes.ts";
import type { RunningMain } from "./support/run-main.ts";
import { WorkerParts } from "./support/worker-parts.ts";

const parts = forFile(() => WorkerParts.start());

async function start(env: NodeJS.ProcessEnv = {}) {
  const worker = await parts.run({ env: { LOG_FORMAT: "json", LOG_LEVEL: "info", ...env } });
  const ana = await parts.join(`room-${createId()}`, "ana");
  await ana.until(() => ana.all("configuration").length === 1, "the worker", 20_000);
  await ana.configure({});
  const { httpUrl = "" } = await worker.ready;
  const ready = async () => {
    const response = await fetch(`${httpUrl}/ready`);
    const { status, model } = (await response.json()) as Record<string, string>;
    return [response.status, status, model];
  };
  return { worker, ana, ready };
}

/** The worker's lines about the model, without what differs in each run. */
async function linesOf(worker: RunningMain): Promise<Record<string, unknown>[]> {
  worker.kill("SIGTERM");
  const { stderr } = await worker.ended;
  const lines = stderr
    .split("\n")
    .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as { msg: string }] : []));
  return lines.filter(({ msg }) => msg.startsWith("model "));
}

test("a model that refuses calls is a warning for each reason, and `model` in /ready until it answers again", async () => {
  const { worker, ana, ready } = await start();
  const before = await ready();
  const about = (path: string) => ({ ...httpError(400), message: `${path}: Input should be 'low' or 'high'` });
  const steps = [httpError(401), httpError(401), httpError(404), about("output_config.effort")];
  parts.model.script([...steps, reply([text("Here I am.")])]);

  for (const [index] of steps.entries()) {
    await ana.say("Are you there?");
    await ana.until(() => ana.all("error_message").length === index + 1, "the error", 20_000);
  }
  const meanwhile = await ready();
  await ana.answerTo(await ana.say("And now?"), 20_000);
  await expect.poll(ready).toEqual([200, "ready", "ok"]);

  expect([before, meanwhile]).toEqual([
    [200, "ready", "ok"],
    [200, "ready", "failed"],
  ]);
  const warning = { level: 40, msg: "model refuses calls", model: "claude-sonnet-5-5", failedCalls: 1 };
  expect(await linesOf(worker)).toMatchObject([
    { ...warning, status: 401, requestId: "req_1", apiMessage: "Scripted authentication_error" },
    { ...warning, status: 404, requestId: "req_3", apiMessage: "Scripted not_found_error" },
    {
      ...warning,
      status: 400,
      requestId: "req_4",
      apiMessage: "output_config.effort: Input should be 'low' or 'high'",
    },
    { level: 30, msg: "model answers again" },
  ]);
}, 60_000);

test("a model that cannot be reached is a warning with the network's reason", async () => {
  const { worker, ana, ready } = await start({ ANTHROPIC_BASE_URL: "http://127.0.0.1:9" });

  await ana.say("Are you there?");
  await ana.next("error_message", undefined, 20_000);

  expect(await ready()).toEqual([200, "ready", "failed"]);
  expect(await linesOf(worker)).toMatchObject([
    { level: 40, msg: "model refuses calls", kind: "connection", networkCode: "ECONNREFUSED" },
  ]);
}, 60_000);
