import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentDispatchClient } from "livekit-server-sdk";
import { expect, test, vi } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { reply, text } from "../../../src/model-server/step.ts";
import { forFile } from "../../support/lifetimes.ts";
import { WorkerParts } from "../support/worker-parts.ts";

// These tests start whole programs, which takes time on two busy cores.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const ROOMS = 3;
const parts = forFile(() => WorkerParts.start());

/** Starts a worker that has two agents, but no agent name. */
async function startWorker(): Promise<void> {
  const { folder } = parts;
  const source = JSON.stringify(join(import.meta.dirname, "../../../src/agent/define-agent.ts"));
  const config = { instructions: "You are the front desk.", agentsFolder: join(folder, "agents") };
  await mkdir(join(folder, "agents"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(join(folder, "parley.config.ts"), `export default ${JSON.stringify(config)};`);
  await writeFile(
    join(folder, "agents/billing.ts"),
    `import { defineAgent } from ${source};\nexport default defineAgent({ instructions: "You know invoices." });`,
  );
  await parts.run({ args: ["--worker-only"], env: { PARLEY_CONFIG: join(folder, "parley.config.ts") } });
}

test("a room dispatched to an agent gets that agent, though LiveKit also assigns every new room to the worker", async () => {
  await startWorker();
  const { url, apiKey, apiSecret } = parts.livekit;
  const dispatches = new AgentDispatchClient(url.replace(/^ws/u, "http"), apiKey, apiSecret);
  const served: unknown[] = [];

  for (let count = 0; count < ROOMS; count++) {
    const room = `room-${createId()}`;
    await dispatches.createDispatch(room, "", { metadata: '{"agent": "billing"}' });
    const user = await parts.join(room, "ana");
    await user.until(() => user.all("configuration").length > 0, "the worker's configuration", 20_000);
    await user.configure({});
    parts.model.script([reply([text("Hello.")])]);
    await user.answerTo(await user.say("Hello"));
    const { system } = parts.model.requests.at(-1)?.body ?? {};
    served.push((system as { text: string }[])[0]?.text);
  }

  expect(served).toEqual(Array.from({ length: ROOMS }, () => "You know invoices."));
});
