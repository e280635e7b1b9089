import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { countLetters } from "../../src/conversation/truncate-to-played.ts";
import { abortable } from "../../src/lib/abortable.ts";
import { defineTool } from "../../src/tool/define-tool.ts";
import { reply, slow, text, toolUse } from "../../src/model-server/step.ts";
import { secondsOf } from "../support/speaker.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";
import { announced } from "../support/client-tool.ts";

const LONG =
  "One two three four five six seven eight nine ten eleven twelve. Then we count again from the start. And once more.";
const QUESTION = "Hold on, what about the weather tomorrow?";

beforeAll(() => warmUp(QUESTION, "Ahem"));

/** The turns whose speech has ended. */
const spokenTurns = (voice: VoiceAgent) =>
  voice.agent.sql<{ state: string; heard: string | null }[]>`
    select state, heard from turns where spoken_at is not null order by position`;
const callsOf = async (voice: VoiceAgent) => (await voice.agent.calls()).map(({ name, state }) => `${name} ${state}`);

/** Returns the model's own last message as the last request has shown it to the model. */
function lastSaid(voice: VoiceAgent): string {
  const messages = voice.agent.model.requests.at(-1)?.body["messages"] as {
    role: string;
    content: { type: string; text?: string }[];
  }[];
  const said = messages.filter(({ role }) => role === "assistant").flatMap(({ content }) => content);
  return said.map(({ text: words = "" }) => words).join("");
}

test("speaking over an answer stops it, and the model is shown what was heard", async () => {
  await using voice = await VoiceAgent.start();
  const user = await voice.speaker("user");
  voice.agent.model.script([reply([text(LONG)]), reply([text("Sunny.")])]);
  const asked = await user.client.say("Count, please.");
  await user.untilHeard(1);
  voice.understand(QUESTION);
  await user.say(QUESTION);
  const answer = await user.client.next("transcription", ({ final }) => final);
  await user.client.next("start_answer", ({ previousId }) => previousId === answer.id);
  const share = user.secondsHeard() / (await secondsOf(LONG));
  expect(await user.client.answerTo(answer.id)).toBe("Sunny.");
  const [first] = await spokenTurns(voice);
  expect(first?.state).toBe("completed");
  const heard = first?.heard?.trim() ?? "";
  expect(share).toBeLessThan(0.75);
  expect(Math.abs(countLetters(heard) / countLetters(LONG) - share)).toBeLessThan(0.2);
  expect(lastSaid(voice)).toBe(heard);
  const shown = await user.client.answerTo(asked);
  expect([LONG.startsWith(shown), shown.startsWith(heard)]).toEqual([true, true]);
  expect(voice.agent.model.rejections).toEqual([]);
});

test("speaking over an answer aborts the model's stream", async () => {
  await using voice = await VoiceAgent.start();
  const user = await voice.speaker("user");
  // The answer takes more than half a minute to speak.
  voice.agent.model.script([reply([text(`${LONG} `.repeat(15))], slow(400)), reply([text("Sunny.")])]);
  await user.client.say("Count, please.");
  await user.untilSound();
  voice.understand(QUESTION);
  await user.say(QUESTION);
  const answer = await user.client.next("transcription", ({ final }) => final);
  await user.client.answerTo(answer.id);
  expect(voice.agent.model.abortedCount).toBe(1);
});

test.each([
  ["finish", "success"],
  ["cancel", "cancelled"],
] as const)("speaking during a server tool with onInterrupt %s ends its call as %s", async (onInterrupt, end) => {
  const running = Promise.withResolvers<void>();
  const seen = Promise.withResolvers<string>();
  const look = defineTool({
    description: "Looks.",
    input: z.object({}),
    onInterrupt,
    run: async (_input, { signal }) => {
      running.resolve();
      return abortable(seen.promise, signal);
    },
  });
  await using voice = await VoiceAgent.start({ tools: { look } });
  const user = await voice.speaker("user");
  voice.agent.model.script((request) => {
    const last = JSON.stringify((request.body["messages"] as object[]).at(-1));
    if (last.includes("weather")) return reply([text("Sunny.")]);
    return last.includes("Look") ? reply([toolUse("look")]) : reply([text("I have seen it.")]);
  });
  await user.client.say("Look, please.");
  await running.promise;
  voice.understand(QUESTION);
  await user.say(QUESTION);
  const answer = await user.client.next("transcription", ({ final }) => final);
  expect(await user.client.answerTo(answer.id)).toBe("Sunny.");
  seen.resolve("seen");
  await expect.poll(() => callsOf(voice), { timeout: 8_000 }).toEqual([`look ${end}`]);
  expect(voice.agent.model.rejections).toEqual([]);
});

test("speaking during a client's tool lets the client's call continue, and its result arrives late", async () => {
  await using voice = await VoiceAgent.start();
  const tools = [announced("scan")];
  const user = await voice.speaker("user", { tools, features: ["tool_use_cancel"] });
  voice.agent.model.script([reply([toolUse("scan")]), reply([text("Sunny.")]), reply([text("Scanned.")])]);
  await user.client.say("Scan it.");
  const { id } = await user.client.next("tool_use_request");
  voice.understand(QUESTION);
  await user.say(QUESTION);
  const answer = await user.client.next("transcription", ({ final }) => final);
  expect(await user.client.answerTo(answer.id)).toBe("Sunny.");
  await user.client.answer(id, { success: true, result: { pages: 2 } });
  await user.client.next("assistant_sentence", (sentence) => sentence.text === "Scanned.");
  expect(await callsOf(voice)).toEqual(["scan success"]);
  expect(voice.agent.model.rejections).toEqual([]);
});

test("speaking during a tool that blocks does not stop the speech, and is answered afterwards", async () => {
  const release = Promise.withResolvers<void>();
  const pay = defineTool({
    description: "Pays.",
    input: z.object({}),
    onInterrupt: "block",
    run: async () => {
      await release.promise;
      return "paid";
    },
  });
  await using voice = await VoiceAgent.start({ tools: { pay } });
  const user = await voice.speaker("user");
  const before = "I am going to pay this bill for you now and I will tell you when it has been done.";
  voice.agent.model.script([
    reply([text(before), toolUse("pay")]),
    reply([text("It is paid.")]),
    reply([text("Sunny.")]),
  ]);
  const first = await user.client.say("Pay, please.");
  await user.untilSound();
  voice.understand(QUESTION);
  const { from } = await user.say(QUESTION);
  const answer = await user.client.next("transcription", ({ final }) => final);
  expect(user.secondsHeard(from)).toBeGreaterThan(1);
  release.resolve();
  expect(await user.client.answerTo(first)).toBe(`${before} It is paid.`);
  expect(await user.client.answerTo(answer.id)).toBe("Sunny.");
  const whole = { state: "completed", heard: null };
  await expect.poll(() => spokenTurns(voice), { timeout: 5_000 }).toEqual([whole, whole]);
});

test("a cough does not end an answer, which continues and is heard in full", async () => {
  await using voice = await VoiceAgent.start();
  const user = await voice.speaker("user");
  voice.agent.model.script([reply([text(LONG)])]);
  const id = await user.client.say("Count, please.");
  await user.untilHeard(0.5);
  voice.understand("");
  await user.say("Ahem");
  expect(await user.client.answerTo(id, 25_000)).toBe(LONG);
  await expect.poll(() => spokenTurns(voice), { timeout: 10_000 }).toEqual([{ state: "completed", heard: null }]);
  expect(user.secondsHeard()).toBeGreaterThan(5);
});

test.each(["Mhm.", "Okay.", "Yeah, sure."])("%s does not end an answer, and is no message", async (said) => {
  await using voice = await VoiceAgent.start();
  const user = await voice.speaker("user");
  voice.agent.model.script([reply([text(LONG)])]);
  const id = await user.client.say("Count, please.");
  await user.untilHeard(0.5);
  voice.understand(said);
  await user.say("Ahem");

  expect(await user.client.answerTo(id, 25_000)).toBe(LONG);
  await expect.poll(() => spokenTurns(voice), { timeout: 10_000 }).toEqual([{ state: "completed", heard: null }]);
  expect(user.secondsHeard()).toBeGreaterThan(5);
  expect(user.client.all("transcription")).toEqual([]);
  expect(await voice.agent.sql`select id from turns`).toHaveLength(1);
});

test.each(["Stop.", "No.", "Wait."])("%s ends an answer", async (said) => {
  await using voice = await VoiceAgent.start();
  const user = await voice.speaker("user");
  voice.agent.model.script([reply([text(LONG)]), reply([text("Yes?")])]);
  await user.client.say("Count, please.");
  await user.untilHeard(0.5);
  voice.understand(said);
  await user.say("Ahem");

  await user.client.next("assistant_sentence", ({ text: answer }) => answer === "Yes?", 15_000);
  expect((await spokenTurns(voice))[0]?.heard?.length).toBeLessThan(0.75 * LONG.length);
});

test("yes is an answer while the agent asks a question", async () => {
  await using voice = await VoiceAgent.start();
  const user = await voice.speaker("user");
  voice.agent.model.script([reply([text(`${LONG} Shall I go on?`)]), reply([text("Well then.")])]);
  await user.client.say("Count, please.");
  await user.untilHeard(0.5);
  voice.understand("Yes.");
  await user.say("Ahem");

  const answer = await user.client.next("assistant_sentence", ({ text: said }) => said === "Well then.", 15_000);
  expect(answer).toBeDefined();
});
