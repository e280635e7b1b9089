import { beforeAll, expect, test } from "vitest";
import type { OnAnswer } from "../../src/agent/turn-hooks.ts";
import { reply, text } from "../../src/model-server/step.ts";
import type { Synthesizer } from "../../src/voice/providers/synthesizer.ts";
import { outline } from "../support/model-view.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

const QUESTION = "What time is it?";
const CARD = "4111 1111 1111 1111";

beforeAll(() => warmUp(QUESTION));

/** A voice agent whose hook hides numbers. `asked` are the hook's sentences, and `voiced` the texts that the voice gets. */
async function start(options: Parameters<typeof VoiceAgent.start>[0] = {}) {
  const asked: string[] = [];
  const voiced: string[] = [];
  const onAnswer: OnAnswer = (sentence) => {
    asked.push(sentence);
    return { text: sentence.replace(CARD, "hidden") };
  };
  const wrap = (voice: Synthesizer): Synthesizer => ({
    speak: async function* (words, voiceOptions) {
      const index = voiced.push("") - 1;
      async function* recordedPieces() {
        for await (const piece of words) {
          voiced[index] += piece;
          yield piece;
        }
      }
      yield* voice.speak(recordedPieces(), voiceOptions);
    },
    close: () => voice.close(),
  });
  return { voice: await VoiceAgent.start({ ...options, wrap, agent: { onAnswer } }), asked, voiced };
}

test("a checked sentence is spoken before the model has written the next one", async () => {
  const { voice, asked, voiced } = await start();
  await using _ended = voice;
  const user = await voice.speaker("user");
  const next = "and so it goes on, with one word after the other, ".repeat(8);
  const script = reply([text(`Your card is ${CARD}. Then, ${next} until the end.`)], { slow: 300 });
  voice.agent.model.script([script]);

  await user.client.say("Hi");
  await user.untilSound();

  expect(asked).toEqual([`Your card is ${CARD}.`]);
  expect(voiced.map((words) => words.trim())).toEqual(["Your card is hidden."]);
  expect(user.client.all("assistant_sentence").map((body) => body.text)).toEqual(["Your card is hidden."]);
});

test("the hook is called once for an answer that was written early, and the voice gets only checked words", async () => {
  const { voice, asked, voiced } = await start({ settings: { speculate: true, endOfTurnMs: 2_500 } });
  await using _ended = voice;
  const { agent } = voice;
  const user = await voice.speaker("user");
  agent.model.script(() => reply([text(`It is ${CARD}.`)]));
  voice.understand(QUESTION);
  const spoken = user.say(QUESTION);
  await expect.poll(() => agent.model.requests.length, { timeout: 10_000, interval: 20 }).toBeGreaterThan(0);

  expect(asked).toEqual([]);
  await spoken;
  const said = await user.client.next("transcription", ({ final }) => final);
  expect(await user.client.answerTo(said.id)).toBe("It is hidden.");
  await user.untilHeard(0.3);
  expect(asked).toEqual([`It is ${CARD}.`]);
  expect(voiced.map((words) => words.trim())).toEqual(["It is hidden."]);
});

test("after a spoken answer was cut off, the model is shown what was heard of the changed words", async () => {
  const { voice } = await start();
  await using _ended = voice;
  const { agent } = voice;
  const user = await voice.speaker("user");
  const rest = "One two three four five six seven eight nine ten. Then we count again from the start. And once more.";
  agent.model.script([reply([text(`Your card is ${CARD}. ${rest}`)]), reply([text("Ten.")])]);
  await user.client.say("Hi");
  await user.untilHeard(2);
  voice.understand(QUESTION);
  await user.say(QUESTION);
  const said = await user.client.next("transcription", ({ final }) => final);
  await user.client.answerTo(said.id);

  expect(outline(agent)[1]).toMatch(/^assistant: Your card is hidden\./u);
  expect(JSON.stringify(agent.model.requests.map(({ body }) => body["messages"]))).not.toContain("4111");
  const [turn] = await agent.sql<{ heard: string }[]>`select heard from turns where heard is not null`;
  expect(outline(agent)[1]).toBe(`assistant: ${turn?.heard}`);
  expect(agent.model.rejections).toEqual([]);
});
