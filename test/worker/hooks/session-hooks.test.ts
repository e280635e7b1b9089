import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { expect, test } from "vitest";
import type { AgentSession } from "../../../src/agent/agent-session.ts";
import type { Hooks } from "../../../src/agent/hooks.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent, type AgentOptions } from "../../support/agent.ts";

/** Records the hooks' calls, in order. */
class HookRecorder {
  readonly calls: { readonly hook: keyof Hooks; readonly data: Record<string, unknown> }[] = [];

  get hooks(): Hooks {
    const note = (hook: keyof Hooks) => (data: object) =>
      void this.calls.push({ hook, data: structuredClone(data) as Record<string, unknown> });
    return {
      onSessionStart: note("onSessionStart"),
      onTurnEnd: note("onTurnEnd"),
      onSessionEnd: note("onSessionEnd"),
    };
  }

  get names(): string[] {
    return this.calls.map(({ hook }) => hook);
  }
}

const start = (options: AgentOptions) => TestAgent.start({ hasHooks: true, ...options });
const look = defineTool({ description: "Looks.", input: { type: "object" }, run: () => ({ found: 7 }) });

test("hooks are called for the start, each turn and the end, with plain data", async () => {
  const recorder = new HookRecorder();
  await using agent = await start({ agent: recorder.hooks, tools: { look }, metadata: '{"order": 4}' });
  const user = await agent.client("ana", {}, { name: "Ana", attributes: { customer: "12" } });
  agent.model.script([reply([toolUse("look", { for: "it" })]), reply([text("Seven.")])]);
  await user.answerTo(await user.say("How many?"));
  await expect.poll(() => recorder.names).toEqual(["onSessionStart", "onTurnEnd"]);

  await agent.deleteRoom();

  const session = {
    sessionId: expect.any(String),
    conversationId: agent.roomName,
    room: agent.roomName,
    roomSid: expect.stringMatching(/^RM_/),
    agent: "default",
  };
  const turn = {
    turnId: expect.any(String),
    position: 1,
    at: expect.any(Number),
    endedAt: expect.any(Number),
    participant: "ana",
    messageId: expect.any(String),
    said: "How many?",
    answer: [
      expect.objectContaining({ type: "tool", name: "look", state: "success", ranOn: "server", result: { found: 7 } }),
      { type: "text", text: "Seven." },
    ],
    state: "completed",
    stopReason: "end_turn",
    timings: expect.objectContaining({ startedAt: expect.any(Number), totalMs: expect.any(Number) }),
  };
  const tokens = { inputTokens: expect.any(Number), outputTokens: expect.any(Number) };
  const usage = { ...tokens, cacheReadTokens: expect.any(Number), cacheWriteTokens: expect.any(Number) };
  expect(recorder.calls).toEqual([
    {
      hook: "onSessionStart",
      data: {
        ...session,
        startedAt: expect.any(Number),
        participants: [expect.objectContaining({ identity: "ana", name: "Ana", attributes: { customer: "12" } })],
        metadata: { order: 4 },
        roomMetadata: {},
      },
    },
    { hook: "onTurnEnd", data: { ...session, turn, usage } },
    {
      hook: "onSessionEnd",
      data: {
        ...session,
        startedAt: expect.any(Number),
        endedAt: expect.any(Number),
        reason: "room_deleted",
        participants: ["ana"],
        turns: [turn],
        turnsLeftOut: 0,
        state: {},
        usage: [{ model: "claude-test", ...usage }],
      },
    },
  ]);
  expect(agent.model.rejections).toEqual([]);
});

test("a session that another worker takes over starts once, and ends once: when everybody has left", async () => {
  const recorder = new HookRecorder();
  await using agent = await start({ agent: recorder.hooks });
  const user = await agent.client("ana");
  await expect.poll(() => recorder.names).toEqual(["onSessionStart"]);

  await agent.leave();
  await agent.join();
  await user.configure({});
  agent.model.script([reply([text("Here.")])]);
  await user.answerTo(await user.say("Are you there?"));
  await user.leave();
  await agent.ended();

  expect(recorder.names).toEqual(["onSessionStart", "onTurnEnd", "onSessionEnd"]);
  expect(recorder.calls.at(-1)?.data).toMatchObject({
    reason: "participants_left",
    turns: [{ said: "Are you there?" }],
  });
});

test("a call that the agent ends has this as its reason", async () => {
  const recorder = new HookRecorder();
  await using agent = await start({ agent: { ...recorder.hooks, callTools: { end_call: true } } });
  const user = await agent.client("ana");
  agent.model.script([reply([text("Goodbye."), toolUse("end_call")])]);
  await user.say("Bye");

  await agent.ended();

  expect(recorder.calls.at(-1)).toMatchObject({ hook: "onSessionEnd", data: { reason: "ended_by_agent" } });
});

test("a room in which nobody was starts nothing and ends nothing", async () => {
  const recorder = new HookRecorder();
  await using agent = await start({ agent: recorder.hooks });

  await agent.deleteRoom();

  expect(recorder.calls).toEqual([]);
});

test("hooks that throw, reject or never end affect no turn, and each cause one log line", async () => {
  const lines: string[] = [];
  const logger = pino({ level: "error" }, { write: (line) => lines.push((JSON.parse(line) as { msg: string }).msg) });
  const signals: AbortSignal[] = [];
  const failing: Hooks = {
    onSessionStart: (_started, { signal }) => {
      signals.push(signal);
      return new Promise(() => {});
    },
    onTurnEnd: () => {
      throw new Error("of the author");
    },
    onSessionEnd: async () => {
      await sleep(1);
      throw new Error("of the author");
    },
  };
  await using agent = await start({ agent: failing, logger });
  const user = await agent.client("ana");
  agent.model.script([reply([text("One.")]), reply([text("Two.")])]);

  expect(await user.answerTo(await user.say("Count"))).toBe("One.");
  expect(await user.answerTo(await user.say("On"))).toBe("Two.");
  await agent.deleteRoom();

  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  expect(lines.toSorted()).toEqual([
    "hook onSessionEnd failed",
    "hook onSessionStart timed out after 5 s",
    "hook onTurnEnd failed",
    "hook onTurnEnd failed",
  ]);
}, 20_000);

test("changes that a hook makes to its data affect neither the session nor other hooks", async () => {
  const seen: unknown[] = [];
  const onSessionStart: Hooks["onSessionStart"] = ({ participants, metadata }) => {
    Object.assign(participants[0]?.attributes ?? {}, { plan: "gold" });
    Object.assign(metadata, { tenant: "theirs" });
  };
  const onTurnEnd: Hooks["onTurnEnd"] = ({ turn }) => {
    seen.push(turn.said);
    Object.assign(turn, { said: "Nothing" });
  };
  const onSessionEnd: Hooks["onSessionEnd"] = ({ turns }) => void seen.push(turns[0]?.said);
  const instructions = ({ participants, metadata }: AgentSession) =>
    `${participants.map(({ attributes }) => attributes["plan"]).join(" ")} of ${JSON.stringify(metadata["tenant"])}`;
  const hooks = { onSessionStart, onTurnEnd, onSessionEnd };
  await using agent = await start({ agent: { instructions, ...hooks }, metadata: '{"tenant": "ours"}' });
  const user = await agent.client("ana", {}, { attributes: { plan: "tin" } });
  agent.model.script([reply([text("One.")]), reply([text("Two.")])]);
  await user.answerTo(await user.say("Count"));
  // The instructions are generated again, because a participant has joined.
  await agent.client("bob", {}, { attributes: { plan: "tin" } });
  await user.answerTo(await user.say("On"));
  await agent.deleteRoom();

  expect(JSON.stringify(agent.model.requests.at(-1)?.body["system"])).toContain(String.raw`tin tin of \"ours\"`);
  expect(seen).toEqual(["Count", "On", "Count"]);
});

test("the end of a session waits for its hook, but no longer than five seconds", async () => {
  let endedAt = 0;
  const slow: Hooks = { onSessionEnd: () => sleep(300).then(() => (endedAt = performance.now())) };
  await using agent = await start({ agent: slow });
  await agent.client("ana");
  await expect.poll(async () => (await agent.sql`select from session_rooms`).count).toBe(1);
  await agent.deleteRoom();
  expect(endedAt).toBeGreaterThan(0);

  await using other = await start({ agent: { onSessionEnd: () => new Promise(() => {}) } });
  await other.client("ana");
  await expect.poll(async () => (await other.sql`select from session_rooms`).count).toBe(1);
  const before = performance.now();
  await other.deleteRoom();

  expect(performance.now() - before).toBeGreaterThan(4_900);
  expect(performance.now() - before).toBeLessThan(7_500);
}, 30_000);

test("an agent's own hook replaces the config's, and the config's others stay", async () => {
  const [config, own] = [new HookRecorder(), new HookRecorder()];
  const { onTurnEnd } = own.hooks;
  await using agent = await start({
    agent: config.hooks,
    agents: { billing: { instructions: "You know invoices.", ...(onTurnEnd && { onTurnEnd }) } },
    metadata: '{"agent": "billing"}',
  });
  const user = await agent.client("ana");
  agent.model.script([reply([text("Paid.")])]);
  await user.answerTo(await user.say("My invoice?"));

  await agent.deleteRoom();

  expect([config.names, own.names]).toEqual([["onSessionStart", "onSessionEnd"], ["onTurnEnd"]]);
  expect([...config.calls, ...own.calls].map(({ data }) => data["agent"])).toEqual(["billing", "billing", "billing"]);
});

test("a webhook is stored with the end, and not before", async () => {
  await using agent = await start({ hasEndWebhook: true });
  const user = await agent.client("ana");
  agent.model.script([reply([text("Hello.")])]);
  await user.answerTo(await user.say("Hi"));
  const waiting = async () => (await agent.sql`select id from webhooks where state = 'waiting'`).length;

  await agent.leave();
  expect(await waiting()).toBe(0);
  await agent.join();
  await agent.deleteRoom();

  expect(await waiting()).toBe(1);
});
