import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Synthesizer } from "../src/voice/synthesizer.ts";
import { reply, text } from "../test/support/model-server/step.ts";
import { SPEECH_RATE, speechOf } from "../test/support/speaker.ts";
import { VoiceAgent, warmUp } from "../test/support/voice-agent.ts";

const TURNS = 8;
const QUESTION = "What time is it?";
const ANSWER = "It is ten past two. And the sun is out.";

/** Names a moment of a turn, in the order in which they come. */
const PARTS = {
  recogniserAsked: "silence is noticed, the recogniser is asked",
  understood: "the recogniser has answered",
  turnEnded: "the turn counts as ended",
  modelAsked: "the model is asked",
  firstSentence: "its first sentence is whole",
  firstFrame: "the voice has its first sound",
  heard: "the participant hears it",
} as const;
type Moments = Record<keyof typeof PARTS, number>;

/** From the last sound that the participant sends to the first that it gets, everything on this machine. */
test("from the end of speech to the first sound of the answer", async () => {
  const moments: Partial<Moments> = {};
  await warmUp(QUESTION);
  await using voice = await VoiceAgent.start({ wrap: (synthesizer) => timed(synthesizer, moments) });
  const user = await voice.speaker("user");
  voice.agent.model.script(() => reply([text(ANSWER)], { chunking: 8 }));
  voice.understand(QUESTION, () => (moments.recogniserAsked ??= performance.now()));
  const turns: Moments[] = [];
  for (let turn = 0; turn <= TURNS; turn++) {
    for (const name of Object.keys(PARTS)) delete moments[name as keyof Moments];
    const { client } = user;
    const before = client.all("transcription").length;
    const { to } = await user.say(QUESTION);
    await client.until(() => client.all("transcription").length > before, "a transcript");
    moments.understood = performance.now();
    await client.until(
      () =>
        client
          .all("transcription")
          .slice(before)
          .some(({ final }) => final),
      "the end of the turn",
    );
    moments.turnEnded = performance.now();
    moments.heard = await user.untilSound(to);
    moments.modelAsked = voice.agent.model.requests.at(-1)?.at ?? 0;
    const since = Object.entries(moments).map(([name, at]) => [name, at - to]);
    // The first one loads what the others find loaded.
    if (turn > 0) turns.push(Object.fromEntries(since) as Moments);
    await user.untilSilence(1_500);
    await sleep(200);
  }
  print(turns);
  expect(turns).toHaveLength(TURNS);
});

/** From the first sound that the participant sends over an answer to the last that it gets of it. */
test("from the beginning of an interruption to silence", async () => {
  await warmUp(QUESTION);
  const onset = ((await speechOf(QUESTION)).findIndex((sample) => Math.abs(sample) > 300) / SPEECH_RATE) * 1_000;
  await using voice = await VoiceAgent.start();
  const user = await voice.speaker("user");
  voice.understand(QUESTION);
  const times: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    voice.agent.model.script(() => reply([text("one two three four five six seven eight nine ten ".repeat(3))]));
    const asked = performance.now();
    await user.client.say("Count, please.");
    await user.untilSound(asked);
    await sleep(800 + turn * 90);
    voice.agent.model.script(() => reply([text("Good.")]));
    const { from } = await user.say(QUESTION);
    times.push(user.lastSoundBefore(from + onset + 900) - from - onset);
    await user.untilSilence(2_000);
  }
  const [least = 0, middle = 0, most = 0] = spread(times);
  console.log(`${TURNS} interruptions, ms until silence (least / middle / most): ${least} ${middle} ${most}`);
  expect(times).toHaveLength(TURNS);
});

function spread(values: readonly number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b);
  return [sorted.at(0), sorted[Math.floor(sorted.length / 2)], sorted.at(-1)].map((value = 0) => Math.round(value));
}

function timed(synthesizer: Synthesizer, moments: Partial<Moments>): Synthesizer {
  return {
    async *speak(words, options) {
      const timedWords = async function* () {
        let said = "";
        for await (const word of words) {
          said += word;
          if (/[.?!] /.test(said)) moments.firstSentence ??= performance.now();
          yield word;
        }
      };
      for await (const frame of synthesizer.speak(timedWords(), options)) {
        moments.firstFrame ??= performance.now();
        yield frame;
      }
    },
    close: () => synthesizer.close(),
  };
}

function print(turns: readonly Moments[]): void {
  console.log(`${turns.length} turns, ms since the participant's last sound (least / middle / most):`);
  for (const [name, title] of Object.entries(PARTS)) {
    const values = spread(turns.map((turn) => turn[name as keyof Moments]));
    console.log(`${title.padEnd(45)} ${values.map((ms) => String(ms).padStart(6)).join("")}`);
  }
}
