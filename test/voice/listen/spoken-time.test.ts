import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SpokenTime } from "../../../src/voice/listen/spoken-time.ts";

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

const listening = () => new SpokenTime({ silenceMs: 250, giveUpAfterMs: 2_000 });
const at = (ms: number) => vi.setSystemTime(ms);

test("an utterance lasts from its first sound to its last one, which ended some time before the silence was noticed", () => {
  const time = listening();
  at(1_000);
  time.handleSpeech();
  at(2_000);
  time.handleSilence();
  at(2_300);
  time.handleSpeech();
  at(3_250);
  time.handleSilence();
  at(3_500);

  expect(time.take()).toEqual({ fromAt: 1_000, toAt: 3_000 });
});

test("a sound without words does not belong to words said much later", () => {
  const time = listening();
  at(1_000);
  time.handleSpeech();
  at(1_400);
  time.handleSilence();
  at(9_000);
  time.handleSpeech();
  at(9_750);
  time.handleSilence();

  expect(time.take()).toEqual({ fromAt: 9_000, toAt: 9_500 });
});

test("the next utterance starts from scratch, and words without any sound have no times", () => {
  const time = listening();
  time.handleSpeech();
  time.take();

  expect(time.take()).toBeUndefined();
  at(5_000);
  time.handleSpeech();
  at(6_000);
  expect(time.take()).toEqual({ fromAt: 5_000, toAt: 6_000 });
});
