import { initializeLogger } from "@livekit/agents";
import { AudioFrame, AudioSource, type Room } from "@livekit/rtc-node";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { createAudioOutput, publishUntilSubscribed } from "../../src/livekit/audio-output.ts";

beforeAll(() => initializeLogger({ pretty: false, level: "silent" }));

/** A room whose track is published at once. The subscriber arrives when the test resolves `subscriber`. */
function room(publish: () => void = () => {}) {
  const subscriber = Promise.withResolvers<void>();
  const publishTrack = async () => {
    publish();
    return { waitForSubscription: () => subscriber.promise };
  };
  return { room: { localParticipant: { publishTrack } } as unknown as Room, subscriber };
}

test("a track is used from the moment somebody has subscribed to it", async () => {
  const { room: own, subscriber } = room();
  const output = createAudioOutput(own);
  const published = publishUntilSubscribed(output, new AbortController().signal);
  await Promise.resolve();
  expect(output.subscribed).toBe(false);

  subscriber.resolve();

  expect([await published, output.subscribed]).toEqual([true, true]);
  await output.close();
});

test("a track that is closed, or cannot be published, has no subscriber", async () => {
  const closed = createAudioOutput(room().room);
  expect(await publishUntilSubscribed(closed, AbortSignal.abort())).toBe(false);
  const refused = createAudioOutput(
    room(() => {
      throw new Error("No");
    }).room,
  );
  expect(await publishUntilSubscribed(refused, new AbortController().signal)).toBe(false);
  await Promise.all([closed.close(), refused.close()]);
});

const RATE = 24_000;
/** 20 ms of audio. The value of each sample is its position. */
const part = (index: number) => {
  const samples = Int16Array.from({ length: 480 }, (_, at) => (index * 480 + at) % 32_000);
  return new AudioFrame(samples, RATE, 1, samples.length);
};

/** Starts an output that can speak. Also returns the samples that its track has received. */
async function startOutput() {
  const track = vi.spyOn(AudioSource.prototype, "captureFrame");
  onTestFinished(() => track.mockRestore());
  const { room: own, subscriber } = room();
  const output = createAudioOutput(own);
  subscriber.resolve();
  await publishUntilSubscribed(output, new AbortController().signal);
  const say = async (from: number, to: number) => {
    for (let index = from; index < to; index++) await output.captureFrame(part(index));
  };
  const given = () => track.mock.calls.flatMap(([frame]) => [...frame.data]);
  return { output, say, given };
}

/** Returns the size of each jump. A jump is where a sample is not one more than the sample before it. */
function jumps(samples: readonly number[]): number[] {
  return samples.flatMap((sample, at) =>
    at > 0 && sample !== (samples[at - 1] ?? 0) + 1 ? [sample - (samples[at - 1] ?? 0) - 1] : [],
  );
}

test("after a pause the sound continues where it was last heard, not after what was queued", async () => {
  const { output, say, given } = await startOutput();
  await say(0, 20);
  output.pause();
  const rest = say(20, 40);
  await vi.waitFor(() => expect(output["sourceDiscardedDuration"]).toBeGreaterThan(0.05));
  const discarded = output["sourceDiscardedDuration"];
  output.resume();
  await rest;

  const [back = 0, ...more] = jumps(given());
  expect(more).toEqual([]);
  expect(Math.abs(-back / RATE - discarded)).toBeLessThan(0.005);
  expect(output["sourceDiscardedDuration"]).toBeLessThan(0.005);
  await output.close();
});

test("after an interruption during a pause nothing that was queued is heard", async () => {
  const { output, say, given } = await startOutput();
  await say(0, 20);
  output.pause();
  const rest = output.captureFrame(part(20));
  await vi.waitFor(() => expect(output["sourceDiscardedDuration"]).toBeGreaterThan(0.05));
  output.clearBuffer();
  await rest;
  output.resume();
  await output.waitForPlayout();
  const before = given().length;
  await say(50, 60);

  expect(given()[before]).toBe((50 * 480) % 32_000);
  expect(jumps(given().slice(before))).toEqual([]);
  await output.close();
});
