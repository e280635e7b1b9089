import { beforeAll, expect, test, vi } from "vitest";
import { reply, text } from "../../src/model-server/step.ts";
import { loadRecognizer } from "../support/embedded-speech.ts";
import { forFile } from "../support/lifetimes.ts";
import { joined, recording, RECORDING_RATE, silence } from "../support/recordings.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

// The model is loaded once, which takes seconds on a busy machine.
vi.setConfig({ hookTimeout: 180_000 });

beforeAll(() => warmUp());

const recognizer = forFile(loadRecognizer);

test("what is said with a pause is one message, with the words of both parts", async () => {
  await using voice = await VoiceAgent.start({ stt: recognizer, settings: { endOfTurnMs: 1_500 } });
  const user = await voice.speaker("user");
  voice.agent.model.script(() => reply([text("Two cards.")]));
  const [ten, seven] = [await recording("ten-of-clubs"), await recording("seven-of-clubs")];

  await user.play(joined(ten, silence(600), seven, silence(2_500)));
  const { id, text: said } = await user.client.next("transcription", ({ final }) => final);

  expect(said.toLowerCase().replaceAll(/[^a-z ]/gu, "")).toBe("ten of clubs seven of clubs");
  expect(await user.client.answerTo(id)).toBe("Two cards.");
  const turns = await voice.agent.sql`select input from turns`;
  expect(turns).toEqual([{ input: [{ type: "text", text: said }] }]);
});

test("words that sound like a keyterm are shown and answered as the keyterm", async () => {
  await using voice = await VoiceAgent.start({ stt: recognizer, settings: { keyterms: ["Tenovklubs"] } });
  const user = await voice.speaker("user");
  voice.agent.model.script(() => reply([text("A card.")]));

  await user.play(joined(await recording("ten-of-clubs"), silence(1_500)));
  const { id, text: said } = await user.client.next("transcription", ({ final }) => final);

  expect(said).toMatch(/^Tenovklubs/u);
  expect(await user.client.answerTo(id)).toBe("A card.");
});

test("the sound around a short pause is heard once, and with its soft consonants", async () => {
  await using voice = await VoiceAgent.start({ stt: recognizer, settings: { endOfTurnMs: 1_500 } });
  const user = await voice.speaker("user");
  voice.agent.model.script(() => reply([text("Two cards.")]));
  const seven = await recording("seven-of-clubs");

  // The recording begins and ends with silence, so there is a short pause between the two.
  await user.play(joined(seven, seven, silence(2_500)));
  const { text: said } = await user.client.next("transcription", ({ final }) => final);

  expect(said.toLowerCase().replaceAll(/[^a-z ]/gu, "")).toBe("seven of clubs seven of clubs");
});

test.each([
  { interimTranscripts: true, title: "words are shown while they are spoken" },
  { interimTranscripts: false, title: "words are not shown while they are spoken if that is turned off" },
])("$title", async ({ interimTranscripts }) => {
  await using voice = await VoiceAgent.start({ stt: recognizer, settings: { interimTranscripts } });
  const user = await voice.speaker("user");
  voice.agent.model.script(() => reply([text("Indeed.")]));
  const shown = () => user.client.all("transcription").filter(({ final }) => !final).length;

  // The recording without its last half second, in which a pause would show the words in both cases.
  await user.play((await recording("he-was-not-an-ill-disposed-young-man")).subarray(0, 2.5 * RECORDING_RATE));
  const before = shown();
  await user.client.next("transcription", ({ final }) => final);

  expect(before > 0).toBe(interimTranscripts);
});
