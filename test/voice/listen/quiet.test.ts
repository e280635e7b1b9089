import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Quiet } from "../../../src/voice/listen/quiet.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function quietness() {
  const quiet = new Quiet(2_000);
  const isReached = async () => {
    let is = false;
    void quiet.reached.then(() => (is = true));
    await vi.advanceTimersByTimeAsync(0);
    return is;
  };
  return { quiet, isReached };
}

test("it is quiet before anything was said", async () => {
  expect(await quietness().isReached()).toBe(true);
});

test("silence alone is not quiet: what was said may not be understood yet", async () => {
  const { quiet, isReached } = quietness();
  quiet.noteSpeech();
  quiet.noteSilence();
  expect(await isReached()).toBe(false);
  quiet.noteUnderstood();
  expect(await isReached()).toBe(true);
});

test("speech in which nothing is understood is over after a while", async () => {
  const { quiet, isReached } = quietness();
  quiet.noteSpeech();
  quiet.noteSilence();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await isReached()).toBe(true);
});

test("who waits waits on when the participant speaks again", async () => {
  const { quiet, isReached } = quietness();
  quiet.noteSpeech();
  const first = quiet.reached;
  quiet.noteSilence();
  quiet.noteSpeech();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(quiet.reached).toBe(first);
  expect(await isReached()).toBe(false);
});
