import { beforeAll, expect, test, vi } from "vitest";
import { reply, text } from "../../src/model-server/step.ts";
import { loadRecognizer } from "../support/embedded-speech.ts";
import { forFile } from "../support/lifetimes.ts";
import { joined, recording, silence } from "../support/recordings.ts";
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

test("words are shown while they are spoken, unless that is turned off", async () => {
  const shown: number[] = [];
  for (const interimTranscripts of [true, false]) {
    await using voice = await VoiceAgent.start({ stt: recognizer, settings: { interimTranscripts } });
    const user = await voice.speaker("user");
    voice.agent.model.script(() => reply([text("Indeed.")]));
    await user.play(joined(await recording("he-was-not-an-ill-disposed-young-man"), silence(1_500)));
    await user.client.next("transcription", ({ final }) => final);
    shown.push(user.client.all("transcription").filter(({ final }) => !final).length);
  }

  // Without interim words, the client learns only at the pauses what was said.
  expect(shown[0]).toBeGreaterThan(shown[1] ?? 0);
});
