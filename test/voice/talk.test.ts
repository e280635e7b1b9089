import { setTimeout as sleep } from "node:timers/promises";
import { RoomEvent } from "@livekit/rtc-node";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tool/define-tool.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { secondsOf } from "../support/speaker.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";
import { announced } from "../support/client-tool.ts";

const CLOCK = { description: "The time.", input: z.object({}) };
const clock = defineTool({ ...CLOCK, run: () => "ten past two" });
const ANSWER = "The sun is out in the north. It rains in the south.";

/**
 * Matches a text, once or repeated: a busy machine may hear an utterance in several pieces, and this recognizer returns
 * the whole text for each.
 */
const textOnceOrMore = (text: string): unknown =>
  expect.toSatisfy((words: string) => words.replaceAll(text, "").trim() === "");

beforeAll(() => warmUp("What time is it?", "Hello there."));

test("a spoken question is answered in speech, with a server tool", async () => {
  await using voice = await VoiceAgent.start({ tools: { clock } });
  const { agent } = voice;
  const user = await voice.speaker("user");
  agent.model.script([reply([text("Let me see."), toolUse("clock")]), reply([text("It is ten past two.")])]);
  voice.understand("What time is it?");
  const { to } = await user.say("What time is it?");
  const said = await user.client.next("transcription", ({ final }) => final);
  expect(await user.client.answerTo(said.id)).toBe("Let me see. It is ten past two.");
  await user.untilSound(to);
  await user.untilSilence();
  expect(user.secondsHeard(to)).toBeGreaterThan(1.2);
  expect(user.secondsHeard(to)).toBeLessThan(5);
  const [turn] = await agent.sql`select parent_message_id, input from turns`;
  expect(turn).toEqual({
    parent_message_id: said.id,
    input: [{ type: "text", text: textOnceOrMore("What time is it?") }],
  });
  expect(agent.model.rejections).toEqual([]);
});

test("a spoken question is answered in speech, with a client's tool", async () => {
  await using voice = await VoiceAgent.start();
  const user = await voice.speaker("user", { tools: [announced("scan")] });
  voice.agent.model.script([reply([toolUse("scan")]), reply([text("Two pages.")])]);
  voice.understand("Scan this, please.");
  const { to } = await user.say("What time is it?");
  const { id } = await user.client.next("tool_use_request");
  await user.client.answer(id, { success: true, result: { pages: 2 } });
  await user.untilSound(to);
  const [turn] = await voice.agent.sql`select input from turns`;
  expect(turn).toEqual({ input: [{ type: "text", text: textOnceOrMore("Scan this, please.") }] });
  expect(voice.agent.model.rejections).toEqual([]);
});

test("a typed message in a room with a voice is answered in text and in speech, with each sentence shown when it is heard", async () => {
  await using voice = await VoiceAgent.start();
  const user = await voice.speaker("user");
  voice.agent.model.script([reply([text(ANSWER)])]);
  const id = await user.client.say("How is the weather?");
  await user.client.next("assistant_sentence", (sentence) => sentence.text === "It rains in the south.");
  expect(user.secondsHeard()).toBeGreaterThan(0.5 * (await secondsOf("The sun is out in the north.")));
  expect(await user.client.answerTo(id)).toBe(ANSWER);
  const [start] = user.client.all("start_answer");
  expect(start?.answerType).toBe("text+voice");
  await user.untilHeard(0.7 * (await secondsOf(ANSWER)));
});

const isNews = (state: string, before: string | undefined) => state !== "thinking" || before !== "speaking";

test("ordinary LiveKit clients see the agent's states and read what it says", async () => {
  const slowClock = defineTool({ ...CLOCK, run: () => sleep(500, "ten past two") });
  await using voice = await VoiceAgent.start({ tools: { clock: slowClock } });
  const user = await voice.speaker("user");
  const states: string[] = [];
  user.client.room.on(RoomEvent.ParticipantAttributesChanged, ({ ["parley.agent.state"]: state }) => {
    if (state !== undefined && state !== states.at(-1)) states.push(state);
  });
  const read: string[] = [];
  user.client.onText("lk.transcription", (whole, identity) => {
    if (identity.startsWith("agent")) read.push(whole);
  });
  // The model takes 100 ms for each piece. Without this delay, the voice would start within 40 ms, and a state that
  // lasts less than 40 ms is not published.
  voice.agent.model.script([reply([toolUse("clock")]), reply([text("It is ten past two.")], { slow: 100 })]);
  await user.client.answerTo(await user.client.say("What time is it?"));
  await expect
    // The turn's end may be stored a moment after the last words were heard. Until then, the turn is still running.
    .poll(
      () => states.slice(states.indexOf("using_tool")).filter((state, index, all) => isNews(state, all[index - 1])),
      {
        timeout: 8_000,
      },
    )
    .toEqual(["using_tool", "thinking", "speaking", "listening"]);
  await expect.poll(() => read, { timeout: 5_000 }).toEqual(["It is ten past two."]);
});

test("ControlStop for speech silences the answer, while its turn continues and its words are shown", async () => {
  await using voice = await VoiceAgent.start();
  const user = await voice.speaker("user");
  const answer = `${ANSWER} ${ANSWER} ${ANSWER}`;
  voice.agent.model.script([reply([text(answer)])]);
  const id = await user.client.say("How is the weather?");
  await user.untilSound();
  await user.client.send({ type: "control_stop", body: { stopType: "speech" } });
  expect(await user.client.answerTo(id)).toBe(answer);
  await user.untilSilence();
  expect(user.secondsHeard()).toBeLessThan(0.5 * (await secondsOf(answer)));
  const spoken = () => voice.agent.sql`select state, heard from turns where spoken_at is not null`;
  await expect.poll(spoken).toEqual([{ state: "completed", heard: null }]);
});

test("of two participants the one who is speaking is listened to, whoever joined first", async () => {
  await using voice = await VoiceAgent.start();
  const silent = await voice.speaker("silent");
  const talker = await voice.speaker("talker");
  voice.agent.model.script(() => reply([text("Hello.")]));
  voice.understand("Good morning to you.");
  // At the first words, the agent notices which participant is speaking. The recognizer listens to that participant
  // from then on.
  await talker.say("Good morning to you my dear agent how are you doing today in this fine weather?");
  await talker.client.next("assistant_sentence", (sentence) => sentence.text === "Hello.");
  const [turn] = await voice.agent.sql`select participant_identity from turns`;
  expect(turn).toEqual({ participant_identity: "talker" });
  await silent.untilSound();
});

test("an answer that cannot be spoken is shown, and the next one is tried again", async () => {
  let isBroken = true;
  await using voice = await VoiceAgent.start({
    wrap: (synthesizer) => ({
      ...synthesizer,
      speak: (words, options) => {
        if (isBroken) throw new Error("No voice today");
        return synthesizer.speak(words, options);
      },
      close: () => synthesizer.close(),
    }),
  });
  const user = await voice.speaker("user");
  voice.agent.model.script([reply([text(ANSWER)]), reply([text(ANSWER)])]);
  expect(await user.client.answerTo(await user.client.say("How is the weather?"))).toBe(ANSWER);
  expect(user.secondsHeard()).toBe(0);
  isBroken = false;
  await user.client.say("And again?");
  await user.untilSound();
});

test("speech on which the recognizer fails is reported as not understood, and the session continues", async () => {
  await using voice = await VoiceAgent.start();
  const user = await voice.speaker("user");
  voice.failToUnderstand();
  const { to } = await user.say("What time is it in the capital of France right now?");
  await user.untilSound(to);
  await user.untilSilence();
  voice.agent.model.script([reply([text("Hello.")])]);
  voice.understand("Hello.");
  await user.say("Hello there.");
  const said = await user.client.next("transcription", ({ final }) => final);
  expect(await user.client.answerTo(said.id)).toBe("Hello.");
});

test("the session continues for a participant who comes back after the one that was listened to has left", async () => {
  await using voice = await VoiceAgent.start();
  const first = await voice.speaker("first");
  await first.close();
  await first.client.leave();
  await expect.poll(() => voice.agent.room.remoteParticipants.has("first")).toBe(false);
  const second = await voice.speaker("second");
  voice.agent.model.script([reply([text("Hello.")])]);
  voice.understand("Hello.");
  await second.say("Hello there.");
  const said = await second.client.next("transcription", ({ final }) => final);
  expect(await second.client.answerTo(said.id)).toBe("Hello.");
});
