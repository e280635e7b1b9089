import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Synthesizer } from "../src/voice/synthesizer.ts";
import { reply, text } from "../test/support/model-server/step.ts";
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
    const values = turns.map((turn) => turn[name as keyof Moments]).toSorted((a, b) => a - b);
    const [least = 0, middle = 0, most = 0] = [values.at(0), values[Math.floor(values.length / 2)], values.at(-1)];
    console.log(`${title.padEnd(45)} ${[least, middle, most].map((ms) => ms.toFixed(0).padStart(6)).join("")}`);
  }
}
