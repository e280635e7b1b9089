import { beforeAll, expect, test, vi } from "vitest";
import { reply, text } from "../../src/model-server/step.ts";
import { EndOfTurnModel } from "../../src/speech/turn-end/end-of-turn-model.ts";
import { loadRecognizer } from "../support/embedded-speech.ts";
import { forFile } from "../support/lifetimes.ts";
import { joined, recording, RECORDING_RATE, silence } from "../support/recordings.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

// The models are loaded once, which takes seconds on a busy machine.
vi.setConfig({ hookTimeout: 180_000 });

beforeAll(() => warmUp());

const recognizer = forFile(loadRecognizer);
const PAUSE_MS = 800;
const timingsOf = ({ agent }: VoiceAgent) => agent.sql<{ end: unknown }[]>`select timings->'turnEnd' as end from turns`;

async function startAgent() {
  const voice = await VoiceAgent.start({ stt: recognizer, endOfTurnModel: await EndOfTurnModel.load() });
  voice.agent.model.script(() => reply([text("Indeed.")]));
  return voice;
}

test("a sentence with a pause in its middle is one message", async () => {
  await using voice = await startAgent();
  const user = await voice.speaker("user");
  const sentence = await recording("he-was-not-an-ill-disposed-young-man");
  // After "He was not an ill".
  const at = 1.5 * RECORDING_RATE;

  await user.play(joined(sentence.subarray(0, at), silence(PAUSE_MS), sentence.subarray(at), silence(2_500)));
  const { id, text: said } = await user.client.next("transcription", ({ final }) => final);

  expect(said).toMatch(/^he was not .*young man/iu);
  expect(await user.client.answerTo(id)).toBe("Indeed.");
  expect(await timingsOf(voice)).toHaveLength(1);
});

test("a complete sentence ends the turn, and the judgment is stored with the turn's timings", async () => {
  await using voice = await startAgent();
  const user = await voice.speaker("user");

  await user.play(joined(await recording("ten-of-clubs"), silence(2_500)));
  const { id } = await user.client.next("transcription", ({ final }) => final);
  await user.client.answerTo(id);

  await expect
    .poll(() => timingsOf(voice))
    .toEqual([{ end: { sound: expect.any(Number), endsSentence: expect.any(Boolean), isComplete: true } }]);
});
