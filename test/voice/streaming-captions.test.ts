import { beforeAll, expect, test } from "vitest";
import { PluginSynthesizer } from "../../src/voice/providers/plugin-synthesizer.ts";
import { captionsLateMs, cutAnswer, NUMBERS, STREAMING_VOICES } from "../support/caption-times.ts";
import { VoiceServer } from "../support/servers/voice-server.ts";
import { warmUp } from "../support/voice-agent.ts";

beforeAll(() => warmUp());

test.each(STREAMING_VOICES)(
  "%s's voice: each sentence is shown when its sound starts",
  { timeout: 90_000 },
  async (_, load) => {
    await using server = await VoiceServer.start();
    const synthesizer = new PluginSynthesizer(await load(server.url));
    const lateMs = await captionsLateMs(synthesizer, NUMBERS);
    await synthesizer.close();
    expect(lateMs.filter((ms) => ms > 500 || ms < -500)).toEqual([]);
  },
);

test.each(STREAMING_VOICES)(
  "%s's voice: no word counts as heard that was not",
  { timeout: 90_000 },
  async (_, load) => {
    await using server = await VoiceServer.start();
    const synthesizer = new PluginSynthesizer(await load(server.url));
    const { stored, heard } = await cutAnswer(synthesizer, NUMBERS, 15_000);
    await synthesizer.close();
    expect(stored).toBeLessThanOrEqual(heard);
    expect(stored).toBeGreaterThanOrEqual(heard - 2);
  },
);
