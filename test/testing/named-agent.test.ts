import "../../src/testing/vitest.ts";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, inject, test } from "vitest";
import { scripted, type ScriptedReply } from "../../src/testing/model/scripted.ts";
import type { TestModel } from "../../src/testing/model/test-model.ts";
import { runScenario } from "../../src/testing/scenario/run-scenario.ts";
import type { RoomServers } from "../../src/testing/stage/room-servers.ts";
import { startTalk } from "../../src/testing/start-talk.ts";
import { forFile } from "../support/lifetimes.ts";
import { tempDatabase } from "../support/servers/temp-database.ts";
import { tempFolder } from "../support/temp-folder.ts";

const database = forFile(tempDatabase);
// The folder is inside the repository, so that the agent's imports resolve.
const folder = forFile(() => tempFolder(import.meta.dirname));
const config = () => join(folder.path, "parley.config.ts");

beforeAll(async () => {
  const source = JSON.stringify(join(import.meta.dirname, "../../src/agent/define-agent.ts"));
  const handoffs = '{ billing: { when: "it is about an invoice" } }';
  await mkdir(join(folder.path, "tools"));
  await mkdir(join(folder.path, "agents"));
  await writeFile(config(), `export default { instructions: "You are the front desk.", handoffs: ${handoffs} };`);
  await writeFile(
    join(folder.path, "agents/billing.ts"),
    `import { defineAgent } from ${source};\nexport default defineAgent({ instructions: "You know invoices." });`,
  );
});

function servers(): RoomServers {
  const livekit = { url: inject("livekitUrl"), apiKey: inject("livekitApiKey"), apiSecret: inject("livekitApiSecret") };
  return { livekit, databaseUrl: database.url };
}

/** A model that repeats its system prompt, unless a first reply is scripted. */
const mirror = (first?: ScriptedReply): TestModel =>
  scripted(({ body }, index) =>
    index === 0 && first ? first : ((body["system"] as { text: string }[])[0]?.text ?? ""),
  );

const everywhere = [
  ["in memory", () => false],
  ["in a room", servers],
] as const;

test.each(everywhere)("%s, the session uses the test's agent, or else the config's", async (_where, room) => {
  await using named = await startTalk({ config: config(), agent: "billing", model: mirror(), room: room() });
  await using standard = await startTalk({ config: config(), model: mirror(), room: room() });

  expect(await named.say("Hello")).toSay("You know invoices.");
  expect(await standard.say("Hello")).toSay("You are the front desk.");
});

test("the config's agent hands the session off to an agent from the folder", async () => {
  const toBilling = { use: { hand_off: { to: "billing", summary: "Asks for an invoice." } } };
  await using talk = await startTalk({ config: config(), model: mirror(toBilling) });

  const turn = await talk.say("My invoice?");

  expect(turn).toHaveCalled("hand_off", { to: "billing" });
  expect(turn).toSay("You know invoices.");
});

test("a scenario can select its agent", async () => {
  const file = join(folder.path, "billing.talk.yaml");
  const turn = { user: "Hello", model: [{ use: { hand_off: {} } }, "No."], expect: { say: "Yes." } };
  const write = (more: object) =>
    writeFile(file, JSON.stringify({ config: "parley.config.ts", turns: [turn], ...more }));

  await write({});
  const [desk] = await Array.fromAsync(runScenario(file));
  await write({ agent: "billing" });
  const [billing] = await Array.fromAsync(runScenario(file));

  // Only the front desk has another agent to hand off to.
  expect(desk?.failure).toContain("invalid_parameters");
  expect(billing?.failure).toContain("unknown_tool");
});

test("the error for an unknown agent contains its name, and the nearest one", async () => {
  await expect(startTalk({ config: config(), agent: "sales", model: mirror() })).rejects.toThrow(
    'agent: there is no agent "sales"',
  );
  await expect(startTalk({ config: config(), agent: "biling", model: mirror() })).rejects.toThrow(
    'Did you mean "billing"?',
  );
});
