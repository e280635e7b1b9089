import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Room } from "@livekit/rtc-node";
import { AgentDispatchClient } from "livekit-server-sdk";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { connect } from "../../../src/client/index.ts";
import { createId } from "../../../src/lib/id.ts";
import { reply, text } from "../../../src/model-server/step.ts";
import { forFile } from "../../support/lifetimes.ts";
import { Participant } from "../../support/participant.ts";
import { jobProcesses, type RunningMain } from "../support/run-main.ts";
import { WorkerParts } from "../support/worker-parts.ts";

// These tests start whole programs, which takes time on two busy cores.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const SECRET = "a-secret-for-this-test";
const parts = forFile(() => WorkerParts.start());
let main: RunningMain;
let dispatches: AgentDispatchClient;
const users: Participant[] = [];

beforeAll(async () => {
  const { folder, livekit } = parts;
  const source = JSON.stringify(join(import.meta.dirname, "../../../src/agent/define-agent.ts"));
  const config = { instructions: "You are the front desk.", agentsFolder: join(folder, "agents") };
  await mkdir(join(folder, "agents"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(join(folder, "parley.config.ts"), `export default ${JSON.stringify(config)};`);
  await writeFile(
    join(folder, "agents/billing.ts"),
    `import { defineAgent } from ${source};\nexport default defineAgent({ instructions: "You know invoices." });`,
  );
  const env = { PARLEY_CONFIG: join(folder, "parley.config.ts"), LIVEKIT_AGENT_NAME: "billing", TOKEN_SECRET: SECRET };
  main = await parts.run({ args: ["--worker-only"], env });
  dispatches = new AgentDispatchClient(livekit.url.replace(/^ws/u, "http"), livekit.apiKey, livekit.apiSecret);
});
afterEach(async () => {
  for (const user of users.splice(0)) await user.leave();
});

/** A participant in a new room, for which no agent has been requested yet. */
async function joinRoom(): Promise<{ room: string; user: Participant }> {
  const room = `room-${createId()}`;
  const user = await Participant.join(room, "ana", { server: parts.livekit });
  users.push(user);
  return { room, user };
}

/** The instructions of the agent that answers. */
async function instructionsFor(user: Participant): Promise<string | undefined> {
  await user.until(() => user.all("configuration").length > 0, "the worker's configuration", 20_000);
  await user.configure({});
  parts.model.script([reply([text("Hello.")])]);
  await user.answerTo(await user.say("Hello"));
  const { system } = parts.model.requests.at(-1)?.body ?? {};
  return (system as { text: string }[])[0]?.text;
}

test("a room that is dispatched to an agent's name is served by that agent", async () => {
  const { room, user } = await joinRoom();

  await dispatches.createDispatch(room, "billing");

  expect(await instructionsFor(user)).toBe("You know invoices.");
});

test("the dispatch's metadata take precedence over the name", async () => {
  const { room, user } = await joinRoom();

  await dispatches.createDispatch(room, "billing", { metadata: '{"agent": "default"}' });

  expect(await instructionsFor(user)).toBe("You are the front desk.");
});

test("a room whose agent has died gets another with the same name; one that was not dispatched gets none", async () => {
  const { room: other } = await joinRoom();
  const { room, user } = await joinRoom();
  await dispatches.createDispatch(room, "billing");
  await instructionsFor(user);
  const before = user.all("configuration").length;

  for (const pid of jobProcesses(main.pid)) process.kill(pid, "SIGKILL");
  await user.until(() => user.all("configuration").length > before, "a new worker", 20_000);

  expect(await instructionsFor(user)).toBe("You know invoices.");
  const asked = (await dispatches.listDispatch(other)).filter(({ agentName }) => agentName === "billing");
  expect(asked).toEqual([]);
});

test("a room created with a token from POST /token gets the agent", async () => {
  const { httpUrl = "" } = await main.ready;
  const room = new Room();
  const headers = { "content-type": "application/json", authorization: `Bearer ${SECRET}` };
  const body = JSON.stringify({ room: `room-${createId()}`, identity: "ana" });
  const response = await fetch(`${httpUrl}/token`, { method: "POST", headers, body });
  const { token, livekitUrl } = (await response.json()) as { token: string; livekitUrl: string };
  parts.model.script([reply([text("Hello Ana.")])]);

  await room.connect(livekitUrl, token, { autoSubscribe: false, dynacast: false });
  const parley = await connect(room);
  const answer = await parley.ask("Hello");
  await parley.close();
  await room.disconnect();

  expect(answer.text).toBe("Hello Ana.");
});
