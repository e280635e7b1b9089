import { initializeLogger } from "@livekit/agents";
import { AudioFrame, AudioSource, type Room } from "@livekit/rtc-node";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { createAudioOutput, publishUntilSubscribed } from "../../src/livekit/audio-output.ts";

beforeAll(() => initializeLogger({ pretty: false, level: "silent" }));

/** Its track is published at once; a subscriber comes when it is told to. */
function room(publish: () => void = () => {}) {
  const subscriber = Promise.withResolvers<void>();
  const publishTrack = async () => {
    publish();
    return { waitForSubscription: () => subscriber.promise };
  };
  return { room: { localParticipant: { publishTrack } } as unknown as Room, subscriber };
}

test("a track is used once somebody has subscribed to it, and from then on", async () => {
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
/** 20 ms of it; each sample has the number of its place. */
const part = (index: number) => {
  const samples = Int16Array.from({ length: 480 }, (_, at) => (index * 480 + at) % 32_000);
  return new AudioFrame(samples, RATE, 1, samples.length);
};

/** An output that speaks, and the samples that its track is given. */
async function speaking() {
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

/** Where the samples do not go on from the one before, and by how many they go back. */
function jumps(samples: readonly number[]): number[] {
  return samples.flatMap((sample, at) =>
    at > 0 && sample !== (samples[at - 1] ?? 0) + 1 ? [sample - (samples[at - 1] ?? 0) - 1] : [],
  );
}

test("after a pause the sound goes on where it was heard last, and not after what was queued", async () => {
  const { output, say, given } = await speaking();
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

test("after an interruption in a pause nothing of what was queued is heard", async () => {
  const { output, say, given } = await speaking();
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
