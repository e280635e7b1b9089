import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { RoomServiceClient } from "livekit-server-sdk";
import { expect, inject, test, vi } from "vitest";
import type { AgentSession } from "../../../src/agent/agent-session.ts";
import { createId } from "../../../src/lib/id.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent, type AgentOptions } from "../../support/agent.ts";
import { offeredTools } from "../../support/model-view.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import type { Participant } from "../../support/participant.ts";

const AGENTS = {
  billing: { instructions: "You know invoices.", tools: ["find_*"], model: { name: "claude-other" } },
  support: { instructions: "You know printers." },
};
const tool = defineTool({ description: "Finds.", input: { type: "object" }, run: () => ({}) });

/** The system prompts in the requests to the model, in order. */
function prompts(agent: TestAgent): string[] {
  return agent.model.requests.map(({ body }) => {
    const [first] = body["system"] as readonly { readonly text: string }[];
    return first?.text ?? "";
  });
}

async function ask(agent: TestAgent, user: Participant): Promise<void> {
  agent.model.script([reply([text("Yes.")])]);
  await user.answerTo(await user.say("Hello?"));
}

/** A logger, and the lines that it has written. */
function listening() {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line) as never) });
  return { logger, lines };
}

const rooms = () => new RoomServiceClient(inject("livekitUrl"), inject("livekitApiKey"), inject("livekitApiSecret"));

async function roomWith(metadata: string): Promise<string> {
  const name = `room-${createId()}`;
  await rooms().createRoom({ name, metadata });
  return name;
}

test("the dispatch's metadata select the agent: its instructions, tools and model serve the room", async () => {
  const tools = { find_invoice: tool, print: tool };
  await using agent = await TestAgent.start({ agents: AGENTS, tools, metadata: '{"agent": "billing"}' });
  const user = await agent.client("ana");

  await ask(agent, user);

  expect(prompts(agent)).toEqual(["You know invoices."]);
  expect(offeredTools(agent)).toEqual(["find_invoice"]);
  expect(agent.model.requests[0]?.body["model"]).toBe("claude-other");
  await agent.leave();
  expect(await agent.sql`select model from turns`).toEqual([{ model: "claude-other" }]);
  expect(agent.model.rejections).toEqual([]);
});

test("the room's metadata select the agent if the dispatch does not", async () => {
  await using agent = await TestAgent.start({ agents: AGENTS, roomName: await roomWith('{"agent": "support"}') });
  const user = await agent.client("ana", {}, { attributes: { agent: "billing" } });

  await ask(agent, user);

  expect(prompts(agent)).toEqual(["You know printers."]);
});

test("the first participant's token selects the agent if no metadata do", async () => {
  await using agent = await TestAgent.start({ agents: AGENTS, roomName: await roomWith("not JSON") });
  const first = await agent.client("ana", {}, { attributes: { agent: "billing" } });
  await ask(agent, first);
  const second = await agent.client("bob", {}, { attributes: { agent: "support" } });

  await ask(agent, second);

  expect(prompts(agent)).toEqual(["You know invoices.", "You know invoices."]);
});

test.each([
  ["is no JSON", "billing", "expected a JSON object"],
  ["names no agent that there is", '{"agent": "sales"}', "no agent has this name"],
  ["names it by a number", '{"agent": 7}', "agent: expected a string"],
])("metadata that %s leave the room to the default agent, and cause a log line", async (_, metadata, why) => {
  const { logger, lines } = listening();
  await using agent = await TestAgent.start({ agents: AGENTS, metadata, logger });
  const user = await agent.client("ana");

  await ask(agent, user);

  expect(prompts(agent)).toEqual(["Be brief."]);
  const complaints = lines.filter(({ msg }) => msg === "requested agent ignored");
  expect(complaints).toMatchObject([{ source: "dispatch metadata", why, agents: ["billing", "support", "default"] }]);
});

test("a room or token without an agent leaves the choice to the next source, and causes a log line", async () => {
  const { logger, lines } = listening();
  const roomName = await roomWith('{"agent": "sales"}');
  await using agent = await TestAgent.start({ agents: AGENTS, roomName, logger });
  const user = await agent.client("ana", {}, { attributes: { agent: "nobody" } });
  await ask(agent, user);

  const other = await agent.client("bob", {}, { attributes: { agent: "billing" } });
  await ask(agent, other);

  expect(prompts(agent)).toEqual(["Be brief.", "Be brief."]);
  const complaints = lines.filter(({ msg }) => msg === "requested agent ignored");
  const why = "no agent has this name";
  expect(complaints).toMatchObject([
    { source: "room metadata", why },
    { source: "participant attributes", why },
  ]);
});

test("the room's next worker uses the same agent", async () => {
  await using agent = await TestAgent.start({ agents: AGENTS });
  const user = await agent.client("ana", {}, { attributes: { agent: "billing" } });
  await ask(agent, user);

  await agent.leave();
  await agent.join();
  await user.configure({});
  await ask(agent, user);

  expect(prompts(agent)).toEqual(["You know invoices.", "You know invoices."]);
});

/** Instructions from a function, with a count of how often it was called. */
function countedInstructions(write: Exclude<NonNullable<AgentOptions["agent"]>["instructions"], string | undefined>) {
  let count = 0;
  const instructions: typeof write = (session) => {
    count++;
    return write(session);
  };
  return { agent: { instructions }, count: () => count };
}

test("instructions are generated for the room and its participants, and again only when those change", async () => {
  const people = countedInstructions(({ participants }) => {
    const [first] = participants;
    const { name, language, attributes, isPhone, localTime } = first ?? {};
    return [participants.length, name, language, attributes?.["plan"], isPhone, localTime?.timeZone].join(" ");
  });
  await using agent = await TestAgent.start({ agent: people.agent });
  const attributes = { plan: "gold", timeZone: "Europe/Berlin", "lk.state": "x" };
  const user = await agent.client("ana", { preferredLanguage: "de-DE" }, { name: "Ana", attributes });
  await ask(agent, user);
  await ask(agent, user);
  const asked = people.count();

  const other = await agent.client("bob");
  await ask(agent, other);

  expect(asked).toBe(1);
  expect(prompts(agent)).toEqual([
    "1 Ana de-DE gold false Europe/Berlin",
    "1 Ana de-DE gold false Europe/Berlin",
    "2 Ana de-DE gold false Europe/Berlin",
  ]);
  expect(people.count()).toBe(2);
});

test("instructions are generated again when attributes, the room's metadata or a language change", async () => {
  const counted = countedInstructions(({ participants, roomMetadata }) =>
    JSON.stringify([participants[0]?.attributes, participants[0]?.language, roomMetadata]),
  );
  await using agent = await TestAgent.start({ agent: counted.agent, roomName: await roomWith('{"shop": 1}') });
  const user = await agent.client("ana", { preferredLanguage: "de" }, { attributes: { plan: "gold" } });
  await ask(agent, user);

  await rooms().updateParticipant(agent.roomName, "ana", { attributes: { plan: "free" } });
  await vi.waitUntil(() => agent.room.remoteParticipants.get("ana")?.attributes["plan"] === "free");
  await ask(agent, user);
  await rooms().updateRoomMetadata(agent.roomName, '{"shop": 2}');
  await vi.waitUntil(() => agent.room.metadata === '{"shop": 2}');
  await ask(agent, user);
  await user.configure({ preferredLanguage: "fr" });
  await ask(agent, user);

  expect(prompts(agent)).toEqual([
    '[{"plan":"gold"},"de",{"shop":1}]',
    '[{"plan":"free"},"de",{"shop":1}]',
    '[{"plan":"free"},"de",{"shop":2}]',
    '[{"plan":"free"},"fr",{"shop":2}]',
  ]);
});

test("an invalid language is ignored", async () => {
  const counted = countedInstructions(({ participants }) => `Language: ${participants[0]?.language}`);
  await using agent = await TestAgent.start({ agent: counted.agent });
  const user = await agent.client("ana", { preferredLanguage: "../../../../dev/zero" });

  await ask(agent, user);
  expect(prompts(agent)).toEqual(["Language: undefined"]);
});

test("an unchanged text preserves the prompt cache, even if its function was called again", async () => {
  const same = countedInstructions(() => "Always this.");
  await using agent = await TestAgent.start({ agent: same.agent });
  const user = await agent.client("ana");
  await ask(agent, user);
  await agent.client("bob");

  await ask(agent, user);

  expect(same.count()).toBe(2);
  const [first, second] = agent.model.requests;
  expect(second?.body["system"]).toEqual(first?.body["system"]);
  expect(Number(second?.usage?.["cache_read_input_tokens"])).toBeGreaterThan(0);
});

test("instructions that cannot be generated stay as they were, and the session continues", async () => {
  const { logger, lines } = listening();
  const failing = countedInstructions(({ participants }) => {
    if (participants.length > 1) throw new Error("no such customer");
    return "For one.";
  });
  await using agent = await TestAgent.start({ agent: failing.agent, logger });
  const user = await agent.client("ana");
  await ask(agent, user);
  await agent.client("bob");

  await ask(agent, user);

  expect(prompts(agent)).toEqual(["For one.", "For one."]);
  expect(lines.map(({ msg }) => msg)).toContain("writing agent instructions failed");
});

test("instructions generated while a turn runs are for the next one", async () => {
  const late = Promise.withResolvers<string>();
  const wait = defineTool({
    description: "Waits.",
    input: { type: "object" },
    run: async () => {
      late.resolve("At last.");
      await sleep(100);
    },
  });
  await using agent = await TestAgent.start({ agent: { instructions: () => late.promise }, tools: { wait } });
  const user = await agent.client("ana");
  agent.model.script([reply([toolUse("wait", {})]), reply([text("Yes.")]), reply([text("Yes.")])]);

  await user.answerTo(await user.say("Wait."));
  await user.answerTo(await user.say("And now?"));

  const hasIt = agent.model.requests.map(({ body }) => JSON.stringify(body["system"] ?? "").includes("At last."));
  expect(hasIt).toEqual([false, false, true]);
});

test("a function that hangs delays one turn, for two seconds, and its later result is used from then on", async () => {
  const { logger, lines } = listening();
  const late = Promise.withResolvers<string>();
  const hanging = countedInstructions(() => late.promise);
  await using agent = await TestAgent.start({ agent: hanging.agent, logger });
  const user = await agent.client("ana");
  const asked = performance.now();
  await ask(agent, user);
  const first = performance.now() - asked;
  await ask(agent, user);

  late.resolve("At last.");
  await ask(agent, user);

  expect(first).toBeGreaterThan(1_900);
  expect(agent.model.requests.map(({ body }) => JSON.stringify(body["system"] ?? "").includes("At last."))).toEqual([
    false,
    false,
    true,
  ]);
  expect(hanging.count()).toBe(1);
  // There is only one line, because only the first turn has waited for the instructions in vain.
  expect(lines.filter(({ msg }) => msg === "writing agent instructions failed")).toHaveLength(1);
});

test("the next worker keeps the agent and metadata that served, whatever its own dispatch says", async () => {
  const billing = {
    instructions: ({ metadata }: AgentSession) => `You know the invoices of ${JSON.stringify(metadata["caller"])}.`,
  };
  await using agent = await TestAgent.start({
    agents: { ...AGENTS, billing },
    metadata: '{"agent": "billing", "caller": "Ana"}',
  });
  const user = await agent.client("ana");
  await ask(agent, user);

  await agent.leave();
  await agent.join({ metadata: '{"agent": "support"}' });
  await user.configure({});
  await ask(agent, user);

  expect(prompts(agent)).toEqual(['You know the invoices of "Ana".', 'You know the invoices of "Ana".']);
});

test("a dispatch that came too late does not change the agent, even when it creates the next worker", async () => {
  await using agent = await TestAgent.start({ agents: AGENTS });
  const user = await agent.client("ana");
  await ask(agent, user);

  await agent.leave();
  await agent.join({ metadata: '{"agent": "billing"}' });
  await user.configure({});
  await ask(agent, user);

  expect(prompts(agent)).toEqual(["Be brief.", "Be brief."]);
});
