import { pino } from "pino";
import { expect, test } from "vitest";
import { agentSchema } from "../../../src/agent/agent-fields.ts";
import type { OnUserTurn, UserTurn } from "../../../src/agent/turn-hooks.ts";
import type { NewTurn } from "../../../src/session/turns/turn-queue.ts";
import { spokenTurns } from "../../../src/http/transcript/write-transcript.ts";
import { reply, slow, text } from "../../../src/model-server/step.ts";
import { UserTurnHook } from "../../../src/session/hooks/user-turn-hook.ts";
import { scripted } from "../../../src/testing/model/scripted.ts";
import { startTalk } from "../../../src/testing/start-talk.ts";
import { createSessionModel } from "../../../src/worker/job/session-model.ts";
import { checkConfig } from "../../../src/worker/settings/read-config-file.ts";
import { type AgentOptions, TestAgent } from "../../support/agent.ts";
import { outline } from "../../support/model-view.ts";

/** An agent with this hook, and the turns that the hook has been called for. */
async function start(onUserTurn: OnUserTurn, options: AgentOptions = {}) {
  const asked: UserTurn[] = [];
  const recorded: OnUserTurn = (turn, session) => {
    asked.push(turn);
    return onUserTurn(turn, session);
  };
  return { agent: await TestAgent.start({ ...options, agent: { onUserTurn: recorded } }), asked };
}

/** The stored turns, once all of them have ended. */
async function transcriptOf({ sql }: TestAgent) {
  await expect.poll(() => sql`select from turns where state = 'running'`).toEqual([]);
  const [session] = await sql<{ id: string }[]>`select id from sessions`;
  return Array.fromAsync(spokenTurns(sql, { sessionId: session?.id ?? "" }));
}

test("added context belongs to its turn's message, and stays there for later turns and workers", async () => {
  const found = await start(({ text: said }) => (said === "Hi" ? undefined : { context: `Known about ${said}` }));
  await using agent = found.agent;
  const user = await agent.client("ann");
  agent.model.script(["One.", "Two.", "Three."].map((words) => reply([text(words)])));

  await user.answerTo(await user.say("Hi"));
  await user.answerTo(await user.say("tea"));
  await agent.leave();
  await agent.join();
  await user.answerTo(await user.say("cake"));

  const ofTea = "user: tea, [Context from the application for this message: Known about tea]";
  const ofCake = "user: cake, [Context from the application for this message: Known about cake]";
  expect(outline(agent)).toEqual(["user: Hi", "assistant: One.", ofTea, "assistant: Two.", ofCake]);
  expect(new Set(agent.model.requests.map(({ body }) => JSON.stringify(body["system"]))).size).toBe(1);
  expect(found.asked.map(({ participant, text: said }) => [participant, said])).toEqual([
    ["ann", "Hi"],
    ["ann", "tea"],
    ["ann", "cake"],
  ]);
  expect(agent.model.rejections).toEqual([]);
});

test("a regenerated answer keeps the hook's result, and an edited message is a new question to the hook", async () => {
  const found = await start(({ text: said }) => ({ context: `call ${found.asked.length}`, text: said.toUpperCase() }));
  await using agent = found.agent;
  const user = await agent.client("ann");
  agent.model.script(["One.", "Two.", "Three."].map((words) => reply([text(words)])));
  const targetId = await user.say("tea");
  await user.answerTo(targetId);

  await user.send({ type: "control_variation", body: { targetId, mode: "regenerate" } });
  await user.next("assistant_sentence", (body) => body.text === "Two.");
  expect(outline(agent)).toEqual(["user: TEA, [Context from the application for this message: call 1]"]);
  await user.send({ type: "control_variation", body: { targetId, mode: "edit", newContent: "cake" } });
  await user.next("assistant_sentence", (body) => body.text === "Three.");

  expect(outline(agent)).toEqual(["user: CAKE, [Context from the application for this message: call 2]"]);
  expect(found.asked.map((turn) => turn.text)).toEqual(["tea", "cake"]);
});

test("the record shows what was said and what the model was shown", async () => {
  const found = await start(() => ({ text: "My number is <hidden>." }));
  await using agent = found.agent;
  const user = await agent.client("ann");
  agent.model.script([reply([text("Thanks.")])]);

  await user.answerTo(await user.say("My number is 4711."));

  expect(outline(agent)).toEqual(["user: My number is <hidden>."]);
  expect(await transcriptOf(agent)).toMatchObject([
    { said: "My number is 4711.", shownAs: "My number is <hidden>.", answer: [{ text: "Thanks." }] },
  ]);
});

test("a refused message is answered without the model, which never sees it, even after a restart", async () => {
  const found = await start(({ text: said }) => (said.includes("secret") ? { refuse: "Not here." } : undefined));
  await using agent = found.agent;
  const user = await agent.client("ann");
  agent.model.script([reply([text("One.")]), reply([text("Two.")])]);

  expect(await user.answerTo(await user.say("a secret"))).toBe("Not here.");
  expect(agent.model.requests).toEqual([]);
  await user.answerTo(await user.say("Hi"));
  await agent.leave();
  await agent.join();
  await user.answerTo(await user.say("Hi again"));

  expect(JSON.stringify(agent.model.requests.map(({ body }) => body["messages"]))).not.toContain("secret");
  expect(outline(agent).slice(1)).toEqual(["assistant: Not here.", "user: Hi", "assistant: One.", "user: Hi again"]);
  expect(await transcriptOf(agent)).toMatchObject([{ said: "a secret", shownAs: "" }, { said: "Hi" }, {}]);
  expect(agent.model.rejections).toEqual([]);
});

test("the hook answers itself, and the model reads that answer in the next turn", async () => {
  const found = await start(({ text: said }) => (said === "Ping" ? { answer: "Pong." } : undefined));
  await using agent = found.agent;
  const user = await agent.client("ann");
  agent.model.script([reply([text("One.")])]);

  expect(await user.answerTo(await user.say("Ping"))).toBe("Pong.");
  await user.answerTo(await user.say("Hi"));

  const asked = "user: Ping, [The application wrote your answer to this message.]";
  expect(outline(agent)).toEqual([asked, "assistant: Pong.", "user: Hi"]);
});

const BROKEN: Readonly<Record<string, OnUserTurn>> = {
  throws: () => {
    throw new Error("no index");
  },
  "rejects late": async () => {
    await Promise.resolve();
    throw new Error("no index");
  },
  hangs: () => new Promise(() => {}),
  "returns a number": () => 7 as never,
  "returns unknown fields": () => ({ contxt: "tea" }) as never,
  "returns empty words": () => ({ text: " " }),
  "answers and changes": () => ({ text: "a", answer: "b" }),
  "protects an answer that it does not give": () => ({ context: "tea", interruptible: false }),
};

const cases = Object.keys(BROKEN).flatMap((name) => (["go_on", "refuse"] as const).map((onLate) => ({ name, onLate })));

test.each(cases)("a hook that $name is logged, and the turn ends with onLate $onLate", async ({ name, onLate }) => {
  const lines: string[] = [];
  const logger = pino({ level: "warn" }, { write: (line) => void lines.push(line) });
  const run = BROKEN[name] ?? (() => {});
  await using agent = await TestAgent.start({ logger, agent: { onUserTurn: { run, withinMs: 100, onLate } } });
  const user = await agent.client("ann");
  agent.model.script([reply([text("One.")])]);

  const answer = await user.answerTo(await user.say("Hi"));

  expect(answer).toBe(onLate === "go_on" ? "One." : "Something went wrong. Please try again.");
  expect(agent.model.requests).toHaveLength(onLate === "go_on" ? 1 : 0);
  const warned = lines.map((line) => JSON.parse(line) as { msg: string }).filter(({ msg }) => msg.startsWith("hook "));
  expect(warned).toMatchObject([
    { level: 40, msg: name === "hangs" ? "hook onUserTurn timed out after 100 ms" : "hook onUserTurn failed" },
  ]);
});

test("a worker that resumes a turn does not call the hook again", async () => {
  const found = await start(() => ({ context: "tea is out" }));
  await using agent = found.agent;
  const user = await agent.client("ann");
  agent.model.script([reply([text("One sentence. Another sentence.")], slow(200)), reply([text("Two.")])]);
  const id = await user.say("tea");
  await expect.poll(() => agent.model.requests.length).toBe(1);

  await agent.abandon();
  await agent.join();
  await user.answerTo(id);

  expect(found.asked).toHaveLength(1);
  expect(outline(agent)[0]).toBe("user: tea, [Context from the application for this message: tea is out]");
  expect(agent.model.rejections).toEqual([]);
});

test("a message that interrupts a turn does not wait for that turn's hook", async () => {
  const found = await start(({ text: said }) => (said === "tea" ? new Promise(() => {}) : undefined), {
    policy: { onNewMessage: "interrupt" },
  });
  await using agent = found.agent;
  const user = await agent.client("ann");
  agent.model.script([reply([text("One.")])]);

  await user.say("tea");
  await expect.poll(() => found.asked.length).toBe(1);

  expect(await user.answerTo(await user.say("cake"), 1_500)).toBe("One.");
});

test("a talk in memory calls the hook of its config", async () => {
  const config = { instructions: "Be brief.", onUserTurn: () => ({ answer: "From the config." }) };
  await using talk = await startTalk({ config, tools: {}, model: scripted([]) });

  expect((await talk.say("Hi")).text).toBe("From the config.");
});

test("an agent without a hook of its own uses the one of parley.config.ts", () => {
  const ofConfig = () => ({ answer: "From the config." });
  const own = () => ({ answer: "From the agent." });
  const onAnswer = () => ({ text: "Changed." });
  const config = checkConfig({ instructions: "Be brief.", onUserTurn: ofConfig, onAnswer }, "config");
  const definitions = new Map([
    ["billing", agentSchema.parse({ instructions: "Be brief." })],
    ["sales", agentSchema.parse({ instructions: "Be brief.", onUserTurn: own })],
  ]);

  const { agents } = createSessionModel(config, { apiKey: "test", baseUrl: undefined }, definitions);

  const served = ["default", "billing", "sales"].map((name) => agents.get(name));
  expect(served.map((agent) => agent?.onUserTurn)).toEqual([ofConfig, ofConfig, own]);
  expect(served.map((agent) => agent?.onAnswer)).toEqual([onAnswer, onAnswer, onAnswer]);
});

/** The part that a session calls, without a session. */
function hookOf(onUserTurn?: OnUserTurn) {
  const telemetry = { recordHook: () => {} };
  const [participants, state, policy] = [new Map(), { value: {} }, {}];
  const agents = { current: { name: "default", ...(onUserTurn && { onUserTurn }) } };
  const core = { sessionId: "s", room: "r", roomSid: "RM_1", logger: pino({ level: "silent" }), memories: undefined };
  return new UserTurnHook({ ...core, telemetry, participants, state, policy, agents } as never);
}

const turnOf = (words: string): NewTurn => ({
  participant: "ann",
  messageId: words,
  input: [{ type: "text", text: words }],
});
const { signal } = new AbortController();

test("a turn uses what the hook returned for the same words before the participant had finished", async () => {
  const calls: AbortSignal[] = [];
  const hook = hookOf((turn, session) => {
    calls.push(session.signal);
    return { context: turn.text };
  });

  const early = await hook.prepareEarly(turnOf("tea"));
  const turn = (await hook.prepare(turnOf("tea"), signal)) as NewTurn;

  expect(turn.input).toEqual(early?.input);
  expect(calls).toHaveLength(1);
  await hook.prepare(turnOf("tea"), signal);
  expect(calls).toHaveLength(2);
});

test("an early call for other words is aborted, and the model is not called for them", async () => {
  const calls: AbortSignal[] = [];
  const hook = hookOf((_turn, session) => {
    calls.push(session.signal);
    return calls.length === 1 ? new Promise(() => {}) : undefined;
  });

  const early = hook.prepareEarly(turnOf("tea"));
  await Promise.resolve();
  const turn = (await hook.prepare(turnOf("tea and cake"), signal)) as NewTurn;

  expect(await early).toBeUndefined();
  expect(calls.map(({ aborted }) => aborted)).toEqual([true, false]);
  expect(turn.input).toEqual(turnOf("tea and cake").input);
});

test("without a hook nothing is awaited, and nothing changes", () => {
  const turn = turnOf("tea");

  expect(hookOf().prepare(turn, signal)).toBe(turn);
  expect(hookOf().prepareEarly(turn)).toBe(turn);
});
