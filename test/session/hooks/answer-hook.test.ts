import { pino } from "pino";
import { expect, test } from "vitest";
import { z } from "zod";
import type { OnAnswer } from "../../../src/agent/turn-hooks.ts";
import { spokenTurns } from "../../../src/http/transcript/write-transcript.ts";
import { reply, slow, text, thinking, toolUse } from "../../../src/model-server/step.ts";
import { eraseParticipant } from "../../../src/store/removal/erase-participant.ts";
import { scripted } from "../../../src/testing/model/scripted.ts";
import { startTalk } from "../../../src/testing/start-talk.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { type AgentOptions, TestAgent } from "../../support/agent.ts";
import { outline } from "../../support/model-view.ts";

/** An agent with this hook, and the sentences that the hook has been called for. */
async function start(onAnswer: OnAnswer, options: AgentOptions = {}) {
  const asked: string[] = [];
  const recorded: OnAnswer = (sentence, session) => {
    asked.push(sentence);
    return onAnswer(sentence, session);
  };
  return { agent: await TestAgent.start({ ...options, agent: { ...options.agent, onAnswer: recorded } }), asked };
}

/** The stored turns, once all of them have ended. */
async function turnsOf({ sql }: TestAgent) {
  await expect.poll(() => sql`select from turns where state = 'running'`).toEqual([]);
  const [session] = await sql<{ id: string }[]>`select id from sessions`;
  return Array.fromAsync(spokenTurns(sql, { sessionId: session?.id ?? "" }));
}

const hideNumbers: OnAnswer = (sentence) => ({ text: sentence.replace(/\d[\d ]{11,}\d/u, "•••") });
const stopAtSecrets: OnAnswer = (sentence) => (sentence.includes("secret") ? { stop: "I stop here." } : undefined);

test("participants, the record and the model get what the hook has made of a sentence", async () => {
  const found = await start(hideNumbers);
  await using agent = found.agent;
  const user = await agent.client("ann", { features: ["blocks"] });
  agent.model.script([reply([text("Yes. Your card is 4111 1111 1111 1111, Ann. Bye!")]), reply([text("Two.")])]);

  expect(await user.answerTo(await user.say("Hi"))).toBe("Yes. Your card is •••, Ann. Bye!");
  await user.answerTo(await user.say("Again"));

  expect(found.asked).toEqual(["Yes.", "Your card is 4111 1111 1111 1111, Ann.", "Bye!", "Two."]);
  expect(outline(agent)).toEqual(["user: Hi", "assistant: Yes. Your card is •••, Ann. Bye!", "user: Again"]);
  const [changed, kept] = (await turnsOf(agent)).map(({ answer }) => answer);
  const original = "Yes. Your card is 4111 1111 1111 1111, Ann. Bye!";
  expect(changed).toEqual([{ type: "text", text: "Yes. Your card is •••, Ann. Bye!", original }]);
  expect(kept).toEqual([{ type: "text", text: "Two." }]);
  expect(user.packets.map((bytes) => Buffer.from(bytes).toString("latin1")).join("")).not.toContain("4111");
  expect(agent.model.rejections).toEqual([]);
});

test("a stopped answer ends with the hook's words, and the rest of the model's answer is not asked for", async () => {
  const found = await start(stopAtSecrets);
  await using agent = found.agent;
  const user = await agent.client("ann");
  agent.model.script([
    reply([thinking("Hm."), text("One. The secret is tea. And more. And more of it. And still more.")], slow(50)),
    reply([text("Two.")]),
  ]);

  expect(await user.answerTo(await user.say("Hi"))).toBe("One. I stop here.");
  await user.answerTo(await user.say("Again"));

  expect(found.asked).toEqual(["One.", "The secret is tea.", "Two."]);
  expect(agent.model.abortedCount).toBe(1);
  expect(outline(agent)[1]).toBe("assistant: thinking, One. I stop here.");
  expect((await turnsOf(agent))[0]).toMatchObject({
    state: "completed",
    stopReason: "hook",
    answer: [{ text: "One. I stop here.", original: "One. The secret is tea." }],
  });
  expect(agent.model.rejections).toEqual([]);
});

test("an answer that is stopped after a tool use does not run the tool", async () => {
  const run = () => Promise.reject(new Error("must not run"));
  const order = defineTool({ description: "Orders.", input: z.object({}), run });
  const found = await start(stopAtSecrets, { tools: { order } });
  await using agent = found.agent;
  const user = await agent.client("ann");
  agent.model.script([reply([toolUse("order"), text("The secret is tea. Bye.")]), reply([text("Two.")])]);

  await user.answerTo(await user.say("Hi"));
  await user.answerTo(await user.say("Again"));

  expect((await turnsOf(agent))[0]).toMatchObject({ stopReason: "hook", answer: [{ state: "error" }, {}] });
  expect(agent.model.rejections).toEqual([]);
});

test("the model is never sent an empty answer, even if the hook leaves out everything", async () => {
  const found = await start(() => ({ text: "" }));
  await using agent = found.agent;
  const user = await agent.client("ann");
  agent.model.script([reply([thinking("Hm."), text("One. Two.")]), reply([text("Three.")]), reply([text("Four.")])]);

  expect(await user.answerTo(await user.say("Hi"))).toBe("");
  await user.answerTo(await user.say("Again"));
  await agent.leave();
  await agent.join();
  await user.answerTo(await user.say("And again"));

  expect(outline(agent)).toEqual(["user: Hi, Again, And again"]);
  expect((await turnsOf(agent))[0]?.answer).toEqual([{ type: "text", text: "", original: "One. Two." }]);
  expect(agent.model.rejections).toEqual([]);
});

test("each line of code is checked by itself, and keeps its place", async () => {
  const found = await start((sentence) => (sentence.startsWith("key") ? { text: "key = ..." } : undefined));
  await using agent = found.agent;
  const user = await agent.client("ann");
  const code = (key: string) => `Look:\n\`\`\`py\nif True:\n    key = ${key}\n    go(1. + 2)\n\`\`\`\nDone.`;
  agent.model.script([reply([text(code("4711"))]), reply([text("Two.")])]);

  await user.answerTo(await user.say("Hi"));
  await user.answerTo(await user.say("Again"));

  expect(found.asked).toContain("key = 4711");
  expect(outline(agent)[1]).toBe(`assistant: ${code("...")}`);
});

test("an answer that is interrupted keeps what was changed so far", async () => {
  const found = await start(hideNumbers, { policy: { onNewMessage: "interrupt" } });
  await using agent = found.agent;
  const user = await agent.client("ann");
  const endless = `It is 4111 1111 1111 1111. ${"More of it. ".repeat(200)}`;
  agent.model.script([reply([text(endless)], slow(30)), reply([text("Two.")])]);

  await user.say("Hi");
  await user.next("assistant_sentence", (body) => body.text === "It is •••.");
  expect(await user.answerTo(await user.say("Stop"))).toBe("Two.");

  const [turn] = await turnsOf(agent);
  expect(turn).toMatchObject({ state: "interrupted" });
  expect(turn?.answer[0]).toMatchObject({ text: expect.stringMatching(/^It is •••\. /u) });
  expect(turn?.answer[0]).toMatchObject({ original: expect.stringMatching(/^It is 4111 1111 1111 1111\. /u) });
  expect(JSON.stringify(agent.model.requests.map(({ body }) => body["messages"]))).not.toContain("4111");
  expect(agent.model.rejections).toEqual([]);
});

test("a sentence is not sent if its answer is interrupted while the hook runs", async () => {
  const found = await start((sentence) => (sentence === "One." ? new Promise(() => {}) : undefined), {
    policy: { onNewMessage: "interrupt" },
    agent: {},
  });
  await using agent = found.agent;
  const user = await agent.client("ann");
  agent.model.script([reply([text("Zero. One. Two.")], slow(20)), reply([text("Three.")])]);

  await user.say("Hi");
  await expect.poll(() => found.asked).toContain("One.");
  await user.answerTo(await user.say("Stop"));

  const sentences = user.all("assistant_sentence").map((body) => body.text);
  expect(sentences.filter((sentence) => sentence === "One.").length).toBeLessThanOrEqual(1);
  expect(agent.model.rejections).toEqual([]);
});

test("a worker that takes over in the middle of an answer checks only what it asks the model for itself", async () => {
  const found = await start(hideNumbers);
  await using agent = found.agent;
  const user = await agent.client("ann");
  const look = toolUse("look", {}, "toolu_1");
  agent.model.script([
    reply([text("It is 4111 1111 1111 1111. I look."), look]),
    reply([text("A second answer.")], slow(400)),
    reply([text("All is well.")]),
  ]);
  const id = await user.say("Hi");
  await expect.poll(() => agent.model.requests.length).toBe(2);

  await agent.abandon();
  await agent.join();
  await user.next("assistant_message");

  expect(outline(agent)[1]).toMatch(/^assistant: It is •••\. I look\., tool_use/u);
  expect(found.asked.filter((sentence) => sentence.includes("4111"))).toHaveLength(1);
  expect((await turnsOf(agent))[0]?.answer[0]).toMatchObject({ original: "It is 4111 1111 1111 1111. I look." });
  expect(await user.answerTo(id)).toMatch(/^It is •••\. I look\./u);
  expect(agent.model.rejections).toEqual([]);
});

const BROKEN: Readonly<Record<string, OnAnswer>> = {
  throws: () => {
    throw new Error("no filter");
  },
  hangs: () => new Promise(() => {}),
  "returns a string": () => "Hello" as never,
  "returns unknown fields": () => ({ txt: "Hello" }) as never,
  "stops without words": () => ({ stop: " " }),
};

const cases = Object.keys(BROKEN).flatMap((name) => (["go_on", "refuse"] as const).map((onLate) => ({ name, onLate })));

test.each(cases)("a hook that $name is logged, and the answer ends with onLate $onLate", async ({ name, onLate }) => {
  const lines: string[] = [];
  const logger = pino({ level: "warn" }, { write: (line) => void lines.push(line) });
  const run = BROKEN[name] ?? (() => {});
  await using agent = await TestAgent.start({ logger, agent: { onAnswer: { run, onLate } } });
  const user = await agent.client("ann");
  agent.model.script([reply([text("One. Two.")])]);

  const answer = await user.answerTo(await user.say("Hi"));

  expect(answer).toBe(onLate === "go_on" ? "One. Two." : "Something went wrong. Please try again.");
  const warned = lines.map((line) => JSON.parse(line) as { msg: string }).filter(({ msg }) => msg.startsWith("hook "));
  const line = { level: 40, msg: name === "hangs" ? "hook onAnswer timed out after 50 ms" : "hook onAnswer failed" };
  expect(warned).toMatchObject(onLate === "go_on" ? [line, line] : [line]);
});

test("the agent's fixed words are not checked", async () => {
  const found = await start(() => ({ stop: true }), { agent: { onUserTurn: () => ({ answer: "Fixed words." }) } });
  await using agent = found.agent;
  const user = await agent.client("ann");

  expect(await user.answerTo(await user.say("Hi"))).toBe("Fixed words.");
  expect(found.asked).toEqual([]);
});

test("what the model wrote is erased with the person", async () => {
  const found = await start(hideNumbers);
  await using agent = found.agent;
  const user = await agent.client("ann");
  agent.model.script([reply([text("It is 4111 1111 1111 1111.")])]);
  await user.answerTo(await user.say("Hi"));
  await expect.poll(() => agent.sql`select from turn_blocks where original is not null`).toHaveLength(1);

  await agent.leave();
  await eraseParticipant(agent.sql, { identity: "ann" });

  expect(await agent.sql`select from turn_blocks`).toEqual([]);
});

test("a talk in memory calls the hook of its config", async () => {
  const config = { instructions: "Be brief.", onAnswer: () => ({ text: "From the hook." }) };
  await using talk = await startTalk({ config, tools: {}, model: scripted(["From the model."]) });

  expect((await talk.say("Hi")).text).toBe("From the hook.");
});
