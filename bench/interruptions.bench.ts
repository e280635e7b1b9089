import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { SPEECH_RATE } from "../src/testing/stage/speaker.ts";
import { reply, text } from "../src/model-server/step.ts";
import type { Speaker } from "../test/support/speaker.ts";
import { VoiceAgent, warmUp } from "../test/support/voice-agent.ts";
import { today } from "./report/marked-places.ts";
import { recordVoice } from "./report/voice-record.ts";

/** How many coughs and how many interruptions are tried. `ROOMS` is the number of concurrent rooms. */
const COUNT = Number(process.env["INTERRUPTIONS"] ?? 200);
const ROOMS = 2;
const TIMEOUT_MS = 120_000 + COUNT * 8_000;
const COUGHS_PER_ANSWER = 10;
/** An answer of about 40 s. */
const LONG =
  "One two three four five six seven eight nine ten eleven twelve. Then we count again from the start. And once more. ".repeat(
    5,
  );
const QUESTION = "Hold on, what about the weather tomorrow?";
const NOISES = ["Ahem", "Hm.", "Uh.", "Ha!", 80, 150, 250, 350] as const;
/** How many seconds of an answer may be missing by chance: audio arrives in 10 ms frames whose edges are not silent. */
const WORD_SECONDS = 0.25;

/** Returns a burst of noise that starts abruptly and decays, like a cough. */
function cough(ms: number): Int16Array {
  const length = Math.round((SPEECH_RATE * ms) / 1_000);
  return Int16Array.from({ length }, (_, at) => (Math.random() * 2 - 1) * 12_000 * Math.exp((-3 * at) / length));
}

async function makeNoise(user: Speaker, noise: (typeof NOISES)[number]): Promise<void> {
  await (typeof noise === "number" ? user.play(cough(noise)) : user.say(noise));
}

/** Makes the agent speak a whole answer. @returns how many seconds of it were played */
async function hearAnswer(voice: VoiceAgent, user: Speaker, during: () => Promise<void>): Promise<number> {
  const from = performance.now();
  voice.agent.model.script([reply([text(LONG)])]);
  const id = await user.client.say("Count, please.");
  await user.untilHeard(0.5, from);
  await during();
  await user.client.answerTo(id, 120_000);
  await user.untilSilence(2_000, 120_000);
  return user.secondsHeard(from);
}

async function inRooms(work: (voice: VoiceAgent, user: Speaker) => Promise<void>): Promise<void> {
  const room = async () => {
    await using voice = await VoiceAgent.start();
    await work(voice, await voice.speaker("user"));
  };
  await Promise.all(Array.from({ length: ROOMS }, room));
}

test(`of ${COUNT} coughs, how many cost the answer a word`, { timeout: TIMEOUT_MS }, async () => {
  await warmUp(QUESTION, ...NOISES.filter((noise) => typeof noise === "string"));
  let coughs = 0;
  let lost = 0;
  let missing = 0;
  let ended = 0;
  await inRooms(async (voice, user) => {
    voice.understand("");
    const whole = await hearAnswer(voice, user, () => Promise.resolve());
    while (coughs < COUNT) {
      coughs += COUGHS_PER_ANSWER;
      const heard = await hearAnswer(voice, user, async () => {
        for (let count = 0; count < COUGHS_PER_ANSWER; count++) {
          await makeNoise(user, NOISES[Math.floor(Math.random() * NOISES.length)] ?? "Ahem");
          await sleep(2_500);
        }
      });
      const seconds = Math.max(0, whole - heard);
      missing += seconds;
      lost += Math.min(COUGHS_PER_ANSWER, Math.floor(seconds / WORD_SECONDS));
    }
    const [row] = await voice.agent.sql<{ count: number }[]>`
      select count(*)::int as count from turns where state <> 'completed'
    `;
    ended += row?.count ?? 0;
  });
  const share = ((100 * lost) / coughs).toFixed(1);
  console.log(
    `${coughs} coughs: ${lost} lost a word (${share} %), ${ended} ended the answer, ${missing.toFixed(1)} s missing`,
  );
  expect(coughs).toBeGreaterThanOrEqual(COUNT);
  await recordVoice({ coughs: { at: today(), count: coughs, lost } });
});

test(`of ${COUNT} interruptions, how many stop the answer`, { timeout: TIMEOUT_MS }, async () => {
  await warmUp(QUESTION);
  let asked = 0;
  let stopped = 0;
  await inRooms(async (voice, user) => {
    voice.understand(QUESTION);
    // A function rather than a list of answers, because preemptive generation also calls the model.
    voice.agent.model.script(({ body }) => {
      const last = JSON.stringify((body["messages"] as object[]).at(-1));
      return reply([text(last.includes("weather") ? "Sunny." : LONG)]);
    });
    while (asked < COUNT) {
      asked += 1;
      const from = performance.now();
      await user.client.say("Count, please.");
      await user.untilHeard(0.5 + Math.random(), from);
      const before = user.client.all("transcription").length;
      const { to } = await user.say(QUESTION);
      const isAsked = () =>
        user.client
          .all("transcription")
          .slice(before)
          .some(({ final }) => final);
      const isHeard = await user.client.until(isAsked, "what was said", 10_000).then(
        () => true,
        () => false,
      );
      await user.untilSilence(1_000, 60_000);
      // The answer counts as stopped: "Sunny." takes less than a second, whereas the rest of the long answer would take
      // half a minute.
      if (isHeard && user.secondsHeard(to) < 2) stopped += 1;
    }
  });
  console.log(`${asked} interruptions: ${stopped} stopped the answer (${((100 * stopped) / asked).toFixed(1)} %)`);
  expect(asked).toBeGreaterThanOrEqual(COUNT);
  await recordVoice({ interruptions: { at: today(), count: asked, stopped } });
});
