import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Room } from "@livekit/rtc-node";
import { AgentDispatchClient } from "livekit-server-sdk";
import { beforeAll, expect, test, vi } from "vitest";
import { fetchToken } from "../../../src/cli/talk/fetch-token.ts";
import { connect } from "../../../src/client/index.ts";
import { createId } from "../../../src/lib/id.ts";
import { reply, text } from "../../../src/model-server/step.ts";
import { forFile } from "../../support/lifetimes.ts";
import type { RunningMain } from "../support/run-main.ts";
import { WorkerParts } from "../support/worker-parts.ts";

// These tests start whole programs, which takes time on two busy cores.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const ROOMS = 3;
const SECRET = "a-secret-for-this-test";
const parts = forFile(() => WorkerParts.start());
let main: RunningMain;

/** Starts a worker that has three agents, but no agent name. */
beforeAll(async () => {
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
  await writeFile(
    join(folder, "agents/told.ts"),
    `import { defineAgent } from ${source};
    export default defineAgent({
      instructions: ({ metadata, participants: [{ name, attributes }] }) => JSON.stringify({ metadata, name, attributes }),
    });`,
  );
  const env = { PARLEY_CONFIG: join(folder, "parley.config.ts"), TOKEN_SECRET: SECRET };
  main = await parts.run({ args: ["--worker-only"], env });
});

/** The system prompt of the newest request to the model. */
function instructions(): string | undefined {
  const { system } = parts.model.requests.at(-1)?.body ?? {};
  return (system as { text: string }[])[0]?.text;
}

test("a room dispatched to an agent gets that agent, though LiveKit also assigns every new room to the worker", async () => {
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
    served.push(instructions());
  }

  expect(served).toEqual(Array.from({ length: ROOMS }, () => "You know invoices."));
});

test("a token chooses the agent of the room that it creates, and tells the agent who joins", async () => {
  const { httpUrl = "" } = await main.ready;
  const who = { name: "Ana", attributes: { tier: "gold" }, metadata: '{"customer":7}', agent: "told" };
  const { token, livekitUrl } = await fetchToken({
    httpUrl,
    tokenSecret: SECRET,
    room: `room-${createId()}`,
    identity: "ana",
    about: who,
  });
  parts.model.script([reply([text("Hello Ana.")])]);
  const room = new Room();

  await room.connect(livekitUrl, token, { autoSubscribe: false, dynacast: false });
  const parley = await connect(room, { listens: false });
  await parley.ask("Hello");
  await parley.close();
  await room.disconnect();

  expect(JSON.parse(instructions() ?? "")).toEqual({
    metadata: { customer: 7 },
    name: "Ana",
    attributes: { tier: "gold", agent: "told" },
  });
});
