import { initializeLogger, stt } from "@livekit/agents";
import { AudioFrame, AudioResampler } from "@livekit/rtc-node";
import { beforeAll, expect, test } from "vitest";
import { SPEECH_RATE } from "../../../src/testing/stage/speaker.ts";
import { VoiceActivity } from "../../../src/voice/listen/voice-activity.ts";
import { joined, recording, RECORDING_RATE as RATE, silence } from "../../support/recordings.ts";
import { VoiceAgent, warmUp } from "../../support/voice-agent.ts";

const MS = RATE / 1_000;
/** Recordings of people, not of synthetic voices. Each is one utterance. */
const RECORDINGS = ["ten-of-clubs", "seven-of-clubs", "he-was-not-an-ill-disposed-young-man"];

beforeAll(async () => {
  initializeLogger({ pretty: false, level: "silent" });
  await warmUp();
});

test.each(RECORDINGS)("a recognizer that is called per utterance receives the speech unchanged: %s", async (name) => {
  const sound = joined(silence(1_000), await recording(name), silence(1_000));
  const utterance = await recognized(sound);
  expect(utterance.length / MS).toBeGreaterThan(500);
  expect(indexOf(sound, utterance)).toBeGreaterThan(0);
});

test.each(RECORDINGS)("it receives a tenth of a second of the silence before the words: %s", async (name) => {
  const sound = joined(silence(1_000), await recording(name), silence(1_000));
  const utterance = await recognized(sound);
  // The model detects a voice within two of its windows.
  const leadMs = firstSoundMs(sound) - indexOf(sound, utterance) / MS;
  expect(leadMs).toBeGreaterThan(100 - 2 * 32);
  expect(leadMs).toBeLessThanOrEqual(110);
});

test("in a room, too, the recognizer receives the beginning of the speech", async () => {
  const ears = new Recorded();
  await using voice = await VoiceAgent.start({ stt: ears });
  const user = await voice.speaker("user");
  const spoken = await recording("ten-of-clubs");
  await user.play(resampled(spoken, RATE, SPEECH_RATE));
  await expect.poll(() => ears.utterances.length, { timeout: 10_000 }).toBe(1);
  const [heard = new Int16Array()] = ears.utterances;
  // Opus does not preserve samples, and blurs where the first sound starts. But it preserves how loud each 10 ms is.
  const first = (sound: Int16Array, later = 0) => {
    const at = Math.max(0, Math.floor(firstSoundMs(sound) / 10) + later);
    return loudness(sound).slice(at, at + 50);
  };
  const fits = [-3, -2, -1, 0, 1, 2, 3].map((later) => correlation(first(spoken), first(heard, later)));
  expect(Math.max(...fits)).toBeGreaterThan(0.8);
});

/** A recognizer that records the sound that it receives, and returns no text. */
class Recorded extends stt.STT {
  readonly label = "recorded";
  readonly utterances: Int16Array[] = [];

  constructor() {
    super({ streaming: false, interimResults: false });
  }

  protected override async _recognize(buffer: AudioFrame | AudioFrame[]): Promise<stt.SpeechEvent> {
    this.utterances.push(joined(...[buffer].flat().map(({ data }) => data)));
    return { type: stt.SpeechEventType.FINAL_TRANSCRIPT };
  }

  override stream(): stt.SpeechStream {
    throw new TypeError("AgentSession streams by its StreamAdapter");
  }
}

/** Plays sound to a recognizer as AgentSession does. @returns the first utterance that the recognizer receives */
async function recognized(sound: Int16Array): Promise<Int16Array> {
  const recorded = new Recorded();
  const stream = new stt.StreamAdapter(recorded, new VoiceActivity({ endOfTurnMs: 500 })).stream();
  for (let at = 0; at < sound.length; at += 512) {
    const part = sound.slice(at, at + 512);
    stream.pushFrame(new AudioFrame(part, RATE, 1, part.length));
  }
  await expect.poll(() => recorded.utterances.length, { timeout: 10_000 }).toBe(1);
  stream.close();
  return recorded.utterances[0] ?? new Int16Array();
}

function resampled(sound: Int16Array, from: number, to: number): Int16Array {
  const resampler = new AudioResampler(from, to);
  const frames = [...resampler.push(new AudioFrame(sound, from, 1, sound.length)), ...resampler.flush()];
  return joined(...frames.map(({ data }) => data));
}

/** Returns the position of `part` in `whole`, or -1 if `whole` does not contain it unchanged. */
function indexOf(whole: Int16Array, part: Int16Array): number {
  return Buffer.from(whole.buffer).indexOf(Buffer.from(part.slice().buffer)) / 2;
}

/** Returns when the first sound starts that is at least a twentieth as loud as the loudest one, in ms. */
function firstSoundMs(sound: Int16Array): number {
  const loudest = sound.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  return sound.findIndex((sample) => Math.abs(sample) >= loudest * 0.05) / MS;
}

/** Returns the loudness of each 10 ms. */
function loudness(sound: Int16Array): number[] {
  return Array.from({ length: Math.floor(sound.length / MS / 10) }, (_, part) =>
    sound.subarray(part * 10 * MS, (part + 1) * 10 * MS).reduce((sum, sample) => sum + Math.abs(sample), 0),
  );
}

function correlation(ones: readonly number[], others: readonly number[]): number {
  const length = Math.min(ones.length, others.length);
  const centered = (values: readonly number[]) => {
    const mean = values.slice(0, length).reduce((sum, value) => sum + value, 0) / length;
    return values.slice(0, length).map((value) => value - mean);
  };
  const [one, other] = [centered(ones), centered(others)];
  const product = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
  return product(one, other) / Math.sqrt(product(one, one) * product(other, other));
}
