import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ContinueConversation } from "../../../src/agent/agent-session.ts";
import type { Hooks } from "../../../src/agent/hooks.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent, type AgentOptions } from "../../support/agent.ts";

const start = (options: AgentOptions = {}) =>
  TestAgent.start({ hasHooks: true, continueConversation: false, ...options });

const sessions = (agent: TestAgent) =>
  agent.sql<{ id: string; conversation_id: string; former_conversation_id: string | null; turns: number }[]>`
    select id, conversation_id, former_conversation_id,
      (select count(*)::int from turns where session_id = sessions.id) as turns
    from sessions order by created_at
  `;

/** The model's last request. */
const lastRequestJson = (agent: TestAgent) => JSON.stringify(agent.model.requests.at(-1)?.body);

async function ask(agent: TestAgent, identity: string, words: string) {
  const user = await agent.client(identity);
  agent.model.script([reply([text("Noted.")])]);
  await user.answerTo(await user.say(words));
  return user;
}

test("with continueConversation: false a later room with the same name starts its own session", async () => {
  await using agent = await start();
  await ask(agent, "ana", "My order is two teas");
  await agent.deleteRoom();

  await agent.join();
  await ask(agent, "bob", "What did I order?");

  expect(lastRequestJson(agent)).not.toContain("two teas");
  const [earlier, later] = await sessions(agent);
  expect(earlier).toMatchObject({ conversation_id: earlier?.id, former_conversation_id: agent.roomName, turns: 1 });
  expect(later).toMatchObject({ conversation_id: agent.roomName, former_conversation_id: null, turns: 1 });
});

test("with continueConversation: false the next worker in the same room continues its session", async () => {
  await using agent = await start();
  const user = await ask(agent, "ana", "My order is two teas");

  await agent.leave();
  await agent.join();
  await user.configure({});
  agent.model.script([reply([text("Two teas.")])]);
  await user.answerTo(await user.say("What did I order?"));

  expect(lastRequestJson(agent)).toContain("two teas");
  await expect.poll(() => sessions(agent)).toMatchObject([{ conversation_id: agent.roomName, turns: 2 }]);
});

test("without the setting a later room continues the conversation", async () => {
  await using agent = await start({ continueConversation: true });
  await ask(agent, "ana", "My order is two teas");
  await agent.deleteRoom();

  await agent.join();
  await ask(agent, "bob", "What was ordered?");

  expect(lastRequestJson(agent)).toContain("two teas");
  await expect.poll(() => sessions(agent)).toMatchObject([{ turns: 2 }]);
});

test("with withinMs, a later room continues a conversation whose last turn ended recently enough", async () => {
  await using agent = await start({ continueConversation: { withinMs: 60_000 } });
  await ask(agent, "ana", "My order is two teas");
  await agent.deleteRoom();
  await agent.join();
  await ask(agent, "bob", "What was ordered?");
  expect(lastRequestJson(agent)).toContain("two teas");
  await agent.deleteRoom();
  await agent.sql`update turns set finished_at = finished_at - interval '61 s'`;

  await agent.join();
  await ask(agent, "cy", "What was ordered?");

  expect(lastRequestJson(agent)).not.toContain("two teas");
  await expect.poll(() => sessions(agent)).toMatchObject([{ turns: 2 }, { turns: 1 }]);
});

test("a function decides with the room and its participants, and its decision outlasts a worker", async () => {
  const asked: unknown[] = [];
  const continueConversation: ContinueConversation = (room, participants) => {
    asked.push({ room, identities: participants.map(({ identity }) => identity) });
    return participants.some(({ identity }) => identity === "ana");
  };
  await using agent = await start({ continueConversation });
  await ask(agent, "ana", "My order is two teas");
  await agent.deleteRoom();
  expect(asked).toEqual([]);

  const joining = agent.join();
  const user = await agent.client("ana");
  await joining;
  await user.configure({});
  agent.model.script([reply([text("Two teas.")])]);
  await user.answerTo(await user.say("What did I order?"));
  expect(lastRequestJson(agent)).toContain("two teas");
  await agent.leave();
  await agent.join();
  await user.configure({});
  agent.model.script([reply([text("Yes.")])]);
  await user.answerTo(await user.say("Really?"));

  expect(lastRequestJson(agent)).toContain("two teas");
  expect(asked).toMatchObject([{ room: { name: agent.roomName, metadata: {} }, identities: ["ana"] }]);
  await agent.deleteRoom();
  const joiningAgain = agent.join();
  const other = await agent.client("bob");
  await joiningAgain;
  await other.configure({});
  agent.model.script([reply([text("Nothing.")])]);
  await other.answerTo(await other.say("What was ordered?"));
  expect(lastRequestJson(agent)).not.toContain("two teas");
});

test("if the function throws, the room starts a new session", async () => {
  const continueConversation = () => {
    throw new Error("Unknown room");
  };
  await using agent = await start({ continueConversation });
  await ask(agent, "ana", "My order is two teas");
  await agent.deleteRoom();

  const joining = agent.join();
  const user = await agent.client("bob");
  await joining;
  await user.configure({});
  agent.model.script([reply([text("Nothing.")])]);
  await user.answerTo(await user.say("What was ordered?"));

  expect(lastRequestJson(agent)).not.toContain("two teas");
});

test("whatever the earlier room left open is ended, which is reported once", async () => {
  const ended: unknown[] = [];
  const hooks: Hooks = {
    onSessionEnd: ({ sessionId, conversationId, turns }) => {
      ended.push({ sessionId, conversationId, states: turns.map(({ state }) => state) });
    },
  };
  const started = Promise.withResolvers<void>();
  const wait = defineTool({
    description: "Waits.",
    input: { type: "object" },
    run: async (_input, { signal }) => {
      started.resolve();
      return sleep(60_000, {}, { signal });
    },
  });
  await using agent = await start({ agent: hooks, tools: { wait }, hasEndWebhook: true });
  const user = await agent.client("ana");
  agent.model.script([reply([toolUse("wait")])]);
  await user.say("Wait");
  await started.promise;
  // Ends the session as a crash would: nobody stores the end of the turn, the call or the room.
  await agent.abandon();
  await agent.deleteRoom();

  await agent.join();
  await ask(agent, "bob", "Hello");

  const [earlier] = await sessions(agent);
  await expect
    .poll(() => ended)
    .toEqual([{ sessionId: earlier?.id, conversationId: agent.roomName, states: ["failed"] }]);
  expect(await agent.calls()).toMatchObject([{ state: "error", error_code: "outcome_unknown" }]);
  expect(await agent.sql`select session_id from webhooks`).toEqual([{ session_id: earlier?.id }]);
});
