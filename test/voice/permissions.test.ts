import { beforeAll, expect, test } from "vitest";
import { guardedTool } from "../support/guarded-tool.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { Participant } from "../support/participant.ts";
import { secondsOf } from "../support/speaker.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";
import { toolResults } from "../support/model-view.ts";

const REQUEST = "Write it down, please.";
const BY_VOICE = { permission: { rules: [], byVoice: true, waitMs: 60_000 } };
const DONE = "So be it, my dear friend.";

/**
 * What participants say aloud, no matter what a test is about. Each test sets the text that the recognizer returns for
 * it.
 */
const SOUND = "What time is it?";

beforeAll(() => warmUp(SOUND));

/** Starts a session in which the agent asks for permission. Resolves when the participant has heard the question. */
async function startQuestion() {
  const { tool, ran } = guardedTool();
  const voice = await VoiceAgent.start({ tools: { write: tool }, policy: BY_VOICE });
  const user = await voice.speaker("user", { features: ["permissions"] });
  voice.agent.model.script((request) => {
    const last = JSON.stringify((request.body["messages"] as object[]).at(-1));
    if (last.includes(REQUEST)) return reply([toolUse("write", { path: "notes/a.md" })]);
    return reply([text(last.includes("weather") ? "It will be sunny." : DONE)]);
  });
  const asking = performance.now();
  await user.client.say(REQUEST);
  await user.untilSound(asking);
  await user.untilSilence();
  return { voice, user, ran, [Symbol.asyncDispose]: () => voice[Symbol.asyncDispose]() };
}

const isDone = ({ text: said }: { readonly text: string }) => said === DONE;

test.each([
  ["Yes.", "approved", ["notes/a.md"], "wrote notes/a.md"],
  ["No, thanks.", "rejected", [], "Not run: the participant rejected it"],
])("a spoken %j answers the spoken question: %s", async (...row) => {
  const [words, state, paths, result] = row;
  await using talk = await startQuestion();
  const { voice, user } = talk;
  voice.understand(words);
  await user.say(SOUND);
  await user.client.next("assistant_sentence", isDone, 20_000);

  expect(talk.ran).toEqual(paths);
  expect(toolResults(voice.agent).map(({ content }) => content)).toEqual([result]);
  const rows = await voice.agent.sql`select state, replied_via from permissions`;
  expect(rows).toEqual([{ state, replied_via: "voice" }]);
  expect(await voice.agent.sql`select count(*)::int as count from turns`).toEqual([{ count: 1 }]);
  expect(voice.agent.model.rejections).toEqual([]);
});

test("an unrelated spoken sentence is answered, the question stays open, and a later yes still counts", async () => {
  await using talk = await startQuestion();
  const { voice, user } = talk;
  voice.understand("What about the weather tomorrow?");
  const { to } = await user.say(SOUND);
  await user.client.next("assistant_sentence", ({ text: said }) => said === "It will be sunny.", 20_000);
  await user.untilSound(to);
  await user.untilSilence();
  expect(talk.ran).toEqual([]);
  voice.understand("Yes, please.");
  await user.say(SOUND);
  await user.client.next("assistant_sentence", isDone, 20_000);

  expect(talk.ran).toEqual(["notes/a.md"]);
  expect(voice.agent.model.rejections).toEqual([]);
});

test("a participant who speaks over the question is answered, and asked again after the answer", async () => {
  const { tool, ran } = guardedTool();
  await using voice = await VoiceAgent.start({ tools: { write: tool }, policy: BY_VOICE });
  const user = await voice.speaker("user", { features: ["permissions"] });
  voice.agent.model.script((request) => {
    const last = JSON.stringify((request.body["messages"] as object[]).at(-1));
    if (last.includes(REQUEST)) return reply([toolUse("write", { path: `notes/${"a-long-way/".repeat(2)}a.md` })]);
    return reply([text(last.includes("weather") ? "It will be sunny." : DONE)]);
  });
  const asking = performance.now();
  await user.client.say(REQUEST);
  await user.untilSound(asking);
  voice.understand("What about the weather tomorrow?");
  await user.say(SOUND);
  await user.client.next("assistant_sentence", ({ text: said }) => said === "It will be sunny.", 20_000);
  const answered = performance.now();
  await user.untilHeard((await secondsOf("It will be sunny.")) + 1, answered);
  expect(ran).toEqual([]);
});

/** Starts a session in which a participant without audio asks for a file immediately after joining. */
async function reading(options: Parameters<typeof guardedTool>[0] = {}) {
  const { tool, ran } = guardedTool(options);
  const voice = await VoiceAgent.start({ tools: { write: tool } });
  voice.agent.model.script([reply([toolUse("write", { path: "notes/a.md" })]), reply([text(DONE)])]);
  const reader = await Participant.join(voice.agent.roomName, "reader");
  await reader.say(REQUEST);
  return { voice, reader, ran, [Symbol.asyncDispose]: () => voice[Symbol.asyncDispose]() };
}

test.each([
  ["any other", {}, ["Write notes/a.md. Yes or no?"]],
  ["one that takes no spoken yes", { voiceApproval: false }, ["Write notes/a.md", "Yes or no?"]],
])("a participant who only reads is shown the question in the first answer: %s", async (_, options, question) => {
  await using talk = await reading(options);
  const { reader } = talk;
  await reader.next("assistant_sentence", ({ text: said }) => said === question.at(-1));
  expect(reader.all("assistant_sentence").map(({ text: said }) => said)).toEqual(question);
  await reader.say("Yes");
  await reader.next("assistant_sentence", isDone);
  expect(talk.ran).toEqual(["notes/a.md"]);
  await reader.leave();
});

test("a yes that arrives before the question was shown is a message", async () => {
  await using talk = await reading();
  const { reader, voice } = talk;
  await expect.poll(async () => (await voice.agent.sql`select id from permissions`).length).toBe(1);
  const said = await reader.say("Yes");
  await reader.next("start_answer", ({ previousId }) => previousId === said);
  expect(talk.ran).toEqual([]);
  await reader.leave();
});

test("a participant who reads while another listens is shown the spoken question", async () => {
  const { tool, ran } = guardedTool();
  await using voice = await VoiceAgent.start({ tools: { write: tool } });
  const listener = await voice.speaker("listener");
  const reader = await voice.agent.client("reader");
  voice.agent.model.script([reply([toolUse("write", { path: "notes/a.md" })]), reply([text(DONE)])]);
  const asking = performance.now();
  await reader.say(REQUEST);
  await listener.untilSound(asking);
  await reader.next("assistant_sentence", ({ text: said }) => said === "Write notes/a.md. Yes or no?");
  await listener.untilSilence();
  await reader.say("Yes");
  await reader.next("assistant_sentence", isDone);
  expect(ran).toEqual(["notes/a.md"]);
});
