import { beforeAll, expect, test } from "vitest";
import { reply, text } from "../../src/model-server/step.ts";
import { secondsOf } from "../support/speaker.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

const BEGINNING = "The sun is out in the north, and nobody has seen a cloud since the day before yesterday.";
const REST = "In the south it rains from morning to evening, as it does so often in this part of the country.";

beforeAll(() => warmUp(BEGINNING, REST));

test("the next worker speaks from the sentence that was cut off, and sends only unsent sentences", async () => {
  await using voice = await VoiceAgent.start();
  const { agent } = voice;
  const user = await voice.speaker("user");
  agent.model.script([reply([text(`${BEGINNING} ${REST}`)])]);
  await user.client.say("How is the weather?");
  await user.client.next("assistant_sentence", ({ text: said }) => said === BEGINNING);
  const progress = () => agent.sql`select sent_sentences, heard_sentences from turns`;
  await expect.poll(progress).toEqual([{ sent_sentences: 1, heard_sentences: 0 }]);
  await expect
    .poll(() => agent.sql`select state, spoken_at from turns`)
    .toEqual([{ state: "completed", spoken_at: null }]);

  await agent.abandon();
  await user.untilSilence(500);
  const cutAt = performance.now();
  await agent.join();

  await user.client.next("assistant_sentence", ({ isFinal }) => isFinal, 20_000);
  await user.untilSilence();
  const sentences = user.client.all("assistant_sentence").map(({ sequence, text: said }) => `${sequence} ${said}`);
  expect(sentences).toEqual([`1 ${BEGINNING}`, `2 ${REST}`, "3 "]);
  const whole = (await secondsOf(BEGINNING)) + (await secondsOf(REST));
  expect(user.secondsHeard(cutAt)).toBeGreaterThan(0.9 * whole);
  expect(user.secondsHeard(cutAt)).toBeLessThan(1.1 * whole);
  expect(agent.model.requests).toHaveLength(1);
  const spoken = () => agent.sql`select heard, spoken_at is not null as spoken from turns`;
  await expect.poll(spoken).toEqual([{ heard: null, spoken: true }]);
});
