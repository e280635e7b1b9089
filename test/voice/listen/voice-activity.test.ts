import { inference, initializeLogger, VADEventType, type VADEvent } from "@livekit/agents";
import { AudioFrame, AudioResampler } from "@livekit/rtc-node";
import { beforeAll, expect, test } from "vitest";
import { loudBlocks, SPEECH_RATE } from "../../../src/testing/stage/speaker.ts";
import { VoiceActivity } from "../../../src/voice/listen/voice-activity.ts";
import { joined, RECORDING_RATE as RATE, silence } from "../../support/recordings.ts";
import { speechOf } from "../../support/speaker.ts";

/** The length of one of the model's windows, in samples and in ms. */
const WINDOW = 512;
const WINDOW_MS = 32;
const SETTINGS = { endOfTurnMs: 500 };

beforeAll(() => initializeLogger({ pretty: false, level: "silent" }));

test("silence is noticed a quarter of a second after the last sound", async () => {
  const speech = await heardSpeech("What time is it?");
  const { ends } = await listen(joined(silence(500), speech, silence(600)), new VoiceActivity(SETTINGS));
  const lastSoundMs = 500 + lastLoudMs(speech);
  expect(ends).toHaveLength(1);
  expect(Math.abs((ends[0] ?? 0) - lastSoundMs - 250)).toBeLessThanOrEqual(WINDOW_MS);
});

test.each([
  { pauseMs: 450, noticed: "one window sooner than", sooner: WINDOW_MS },
  { pauseMs: 900, noticed: "as late as", sooner: 0 },
])(
  "speech that continues after $pauseMs ms is noticed $noticed with LiveKit's own detector",
  async ({ pauseMs, sooner }) => {
    const speech = await heardSpeech("What time is it?");
    const sound = joined(silence(500), speech, silence(pauseMs - trailingMs(speech)), speech, silence(600));
    const plain = await listen(sound, new inference.VAD({ model: "silero" }));
    const own = await listen(sound, new VoiceActivity(SETTINGS));
    expect(plain.starts).toHaveLength(2);
    expect(own.starts).toEqual([plain.starts[0], (plain.starts[1] ?? 0) - sooner]);
  },
);

/** Feeds sound to the detector window by window. @returns when speech started and ended, in ms of the sound */
async function listen(
  sound: Int16Array,
  vad: inference.VAD,
): Promise<{ readonly starts: number[]; readonly ends: number[] }> {
  const stream = vad.stream();
  const frames = new TransformStream<AudioFrame, AudioFrame>();
  stream.updateInputStream(frames.readable as Parameters<typeof stream.updateInputStream>[0]);
  const writer = frames.writable.getWriter();
  const starts: number[] = [];
  const ends: number[] = [];
  const take = ({ type, timestamp }: VADEvent) => {
    if (type === VADEventType.INFERENCE_DONE) return;
    (type === VADEventType.START_OF_SPEECH ? starts : ends).push(timestamp);
  };
  for (let at = 0; at + WINDOW <= sound.length; at += WINDOW) {
    await writer.write(new AudioFrame(sound.slice(at, at + WINDOW), RATE, 1, WINDOW));
    // Each window produces an INFERENCE_DONE event, followed by the events for any change.
    for (let done = false; !done;) {
      const { value } = await stream.next();
      take(value as VADEvent);
      done = (value as VADEvent).type === VADEventType.INFERENCE_DONE;
    }
  }
  stream.close();
  return { starts, ends };
}

async function heardSpeech(text: string): Promise<Int16Array> {
  const speech = await speechOf(text);
  const resampler = new AudioResampler(SPEECH_RATE, RATE);
  const frames = [...resampler.push(new AudioFrame(speech, SPEECH_RATE, 1, speech.length)), ...resampler.flush()];
  return joined(...frames.map(({ data }) => data));
}

function lastLoudMs(speech: Int16Array): number {
  return (loudBlocks(speech, RATE).lastIndexOf(true) + 1) * 10;
}

function trailingMs(speech: Int16Array): number {
  return speech.length / (RATE / 1_000) - lastLoudMs(speech);
}
