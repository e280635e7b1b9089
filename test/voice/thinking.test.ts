import { AudioStream, type RemoteTrack } from "@livekit/rtc-node";
import { beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { defineTool } from "../../src/tool/define-tool.ts";
import { loudBlocks, SPEECH_RATE } from "../../src/testing/stage/speaker.ts";
import { secondsOf, type Speaker } from "../support/speaker.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

const WORDS = "Hold on for a moment, please.";
const ANSWER = "Here is the answer that took so long.";
const AHEM = "Ahem, you know.";
/** How much the times of two tracks of one participant differ at a listener. */
const APART_MS = 150;

beforeAll(() => warmUp(WORDS, ANSWER, AHEM));

/** Listens to one of the agent's tracks. Returns the times of each 10 ms of sound. */
async function listenTo(user: Speaker, name: string): Promise<readonly number[]> {
  const find = () =>
    [...user.client.room.remoteParticipants.values()]
      .flatMap(({ trackPublications }) => [...trackPublications.values()])
      .find((publication) => publication.name === name)?.track;
  const track = await vi.waitUntil<RemoteTrack | undefined>(find, { timeout: 10_000 });
  const heardAt: number[] = [];
  const read = async () => {
    for await (const { data } of new AudioStream(track as RemoteTrack, { sampleRate: SPEECH_RATE, numChannels: 1 }))
      for (const isLoud of loudBlocks(data)) if (isLoud) heardAt.push(performance.now());
  };
  void read().catch(() => {});
  return heardAt;
}

/** Starts a session with a participant who hears thoughts and the voice separately. */
async function startTalk(options: Parameters<typeof VoiceAgent.start>[0]) {
  const voice = await VoiceAgent.start(options);
  const user = await voice.speaker("user");
  const thoughts = await listenTo(user, "background_audio");
  const voiced = await listenTo(user, "roomio_audio");
  return { voice, user, thoughts, voiced, [Symbol.asyncDispose]: () => voice[Symbol.asyncDispose]() };
}

const from = (times: readonly number[], since: number) => times.filter((at) => at > since);

/** Resolves when the first turn's answer has been heard. */
async function untilAnswered({ voice, user }: Awaited<ReturnType<typeof startTalk>>): Promise<void> {
  const spoken = () => voice.agent.sql`select 1 from turns where spoken_at is not null`;
  await expect.poll(spoken, { timeout: 15_000 }).toHaveLength(1);
  await user.untilSilence();
}

test("while the model is slow, the sound of thinking is heard, until the answer begins", async () => {
  await using talk = await startTalk({ settings: { thinking: "sound" } });
  const { voice, user, thoughts, voiced } = talk;
  voice.agent.model.script([reply([text(ANSWER)], { afterMs: 4_000 })]);
  const asked = performance.now();

  await user.client.say("A hard question?");
  await untilAnswered(talk);

  const [first = 0] = thoughts;
  expect(first - asked).toBeGreaterThan(800);
  expect(first - asked).toBeLessThan(1_500);
  // It goes on every two seconds.
  expect(from(thoughts, first + 1_500).length).toBeGreaterThan(0);
  expect(thoughts.at(-1)).toBeLessThan((voiced[0] ?? 0) + APART_MS);
  expect(voiced.length / 100).toBeGreaterThan(0.8 * (await secondsOf(ANSWER)));
});

test("an answer that is on time is not preceded by a sound", async () => {
  await using talk = await startTalk({ settings: { thinking: "sound" } });
  const { voice, user, thoughts } = talk;
  voice.agent.model.script([reply([text(ANSWER)], { afterMs: 500 })]);

  await user.client.say("An easy question?");
  await untilAnswered(talk);

  expect(thoughts).toEqual([]);
});

test("given words are said once, and are in no caption, no history and no record", async () => {
  await using talk = await startTalk({ settings: { thinking: WORDS } });
  const { voice, user, thoughts, voiced } = talk;
  const captions: string[] = [];
  user.client.onText("lk.transcription", (caption) => captions.push(caption));
  voice.agent.model.script([reply([text(ANSWER)], { afterMs: 4_500 }), reply([text("You are welcome.")])]);

  await user.client.say("A hard question?");
  await untilAnswered(talk);
  await user.client.answerTo(await user.client.say("Thank you"));

  expect(thoughts.length / 100).toBeGreaterThan(0.8 * (await secondsOf(WORDS)));
  expect(thoughts.length / 100).toBeLessThan(1.2 * (await secondsOf(WORDS)));
  expect(thoughts.at(-1)).toBeLessThan(voiced[0] ?? 0);
  const record = await voice.agent
    .sql`select text_content, heard from turns left join turn_blocks on turn_id = turns.id`;
  const seen = JSON.stringify([
    user.client.received,
    captions,
    record,
    voice.agent.model.requests.map(({ body }) => body),
  ]);
  expect(seen).toContain("Here is the answer");
  expect(seen).not.toContain("Hold on");
});

test("the sound ends when a participant speaks, and the speech interrupts nothing", async () => {
  await using talk = await startTalk({ settings: { thinking: "sound" } });
  const { voice, user, thoughts } = talk;
  voice.understand("");
  voice.agent.model.script([reply([text(ANSWER)], { afterMs: 4_500 })]);

  await user.client.say("A hard question?");
  await vi.waitUntil(() => thoughts.length > 0, { timeout: 5_000 });
  const { from: spoke } = await user.sayAloud(AHEM);
  await untilAnswered(talk);

  // Speech is noticed after 90 ms.
  expect(from(thoughts, spoke + 500)).toEqual([]);
  const turns = await voice.agent.sql`select state, heard from turns`;
  expect(turns).toEqual([{ state: "completed", heard: null }]);
});

test("a tool's filler and the sound of thinking are not heard at the same time", async () => {
  const run = () => new Promise((resolve) => void setTimeout(resolve, 3_000, "found"));
  const look = defineTool({ description: "L.", input: z.object({}), filler: WORDS, fillerAfterMs: 100, run });
  await using talk = await startTalk({ tools: { look }, settings: { thinking: "sound" } });
  const { voice, user, thoughts, voiced } = talk;
  voice.agent.model.script([reply([toolUse("look")], { afterMs: 1_500 }), reply([text(ANSWER)], { afterMs: 2_000 })]);

  await user.client.say("A hard question?");
  await untilAnswered(talk);

  const [begins = 0] = voiced;
  const ends = voiced.findLast((at) => at < begins + 2_500) ?? 0;
  // Before the filler, while the model decides on the tool; and after it, while the model reads the result.
  expect(thoughts.filter((at) => at < begins).length).toBeGreaterThan(0);
  expect(thoughts.filter((at) => at > ends).length).toBeGreaterThan(0);
  expect(thoughts.filter((at) => at > begins + APART_MS && at < ends)).toEqual([]);
});

test("an agent plays a WAV file of its own instead of the config's sound", async () => {
  const sound = "test/fixtures/recordings/ten-of-clubs.wav";
  await using talk = await startTalk({ agent: { voice: { thinking: { sound } } }, settings: { thinking: "sound" } });
  const { voice, user, thoughts } = talk;
  voice.agent.model.script([reply([text(ANSWER)], { afterMs: 3_000 })]);

  await user.client.say("A hard question?");
  await untilAnswered(talk);

  // Within the same time, two soft tones are heard for at most 0.4 s.
  expect(thoughts.length / 100).toBeGreaterThan(0.7);
});
