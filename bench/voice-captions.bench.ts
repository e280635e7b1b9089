import { expect, test } from "vitest";
import { PluginSynthesizer } from "../src/voice/providers/plugin-synthesizer.ts";
import { captionsLateMs, cutAnswer, NUMBERS, STREAMING_VOICES } from "../test/support/caption-times.ts";
import { VoiceServer } from "../test/support/servers/voice-server.ts";
import { warmUp } from "../test/support/voice-agent.ts";
import { today } from "./report/marked-places.ts";
import { recordVoice, type CaptionFigures } from "./report/voice-record.ts";

/** How many ms after the first sound the participant interrupts. At that moment, the agent speaks the third number. */
const CUT_AT_MS = 15_000;

/** Each plugin connects to a stand-in for its provider. Each stand-in speaks at a different pace. */
test("how late the sentences of a streaming voice are shown, and how many words are wrongly stored as heard", async () => {
  await warmUp();
  const voices: Record<string, CaptionFigures> = {};
  for (const [name, load] of STREAMING_VOICES) {
    await using server = await VoiceServer.start();
    const synthesizer = new PluginSynthesizer(await load(server.url));
    const lateMs = Math.max(...(await captionsLateMs(synthesizer, NUMBERS)).map(Math.abs));
    const { stored, heard } = await cutAnswer(synthesizer, NUMBERS, CUT_AT_MS);
    await synthesizer.close();
    voices[name] = { lateMs, words: Math.abs(stored - heard) };
    console.log(JSON.stringify({ name, ...voices[name] }));
  }
  await recordVoice(({ captions }) => ({ captions: { ...captions, at: today(), voices } }));
  expect(Object.keys(voices)).toHaveLength(STREAMING_VOICES.length);
});
