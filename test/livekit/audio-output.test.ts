import { initializeLogger } from "@livekit/agents";
import type { Room } from "@livekit/rtc-node";
import { beforeAll, expect, test } from "vitest";
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
