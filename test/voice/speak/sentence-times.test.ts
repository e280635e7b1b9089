import { AudioFrame } from "@livekit/rtc-node";
import { expect, test } from "vitest";
import { SentenceTimes } from "../../../src/voice/speak/sentence-times.ts";

const RATE = 1_000;

/** Sentences with the seconds of their sound, each between a tenth of a second of silence. */
function timesOf(...sentences: readonly [text: string, seconds: number][]): SentenceTimes {
  const times = new SentenceTimes();
  for (const [text, seconds] of sentences) {
    times.begin(text);
    for (const [loudness, length] of [
      [0, 0.1],
      [5_000, seconds],
      [0, 0.1],
    ] as const)
      times.add(new AudioFrame(new Int16Array(length * RATE).fill(loudness), RATE, 1, length * RATE));
    times.end();
  }
  return times;
}

test("what was heard are the sentences whose sound was played, and the words of the next that fit into its sound", () => {
  const times = timesOf(["One two. ", 1], ["Three four five six. ", 2], ["Seven.", 1]);
  expect(times.heardUntil(0.3)).toBe("");
  expect(times.heardUntil(1.3)).toBe("One two. ");
  expect(times.heardUntil(2.6)).toBe("One two. Three four");
  expect(times.heardUntil(4.7)).toBe("One two. Three four five six. Seven.");
});

test("a sentence begins with its first sound, and at once with its first word", () => {
  const times = timesOf(["Incomprehensibilities are rare. ", 1], ["Seven.", 1]);
  expect(times.begunUntil(0.05)).toBe("");
  expect(times.begunUntil(0.2)).toBe("Incomprehensibilities");
  expect(times.begunUntil(1.25)).toBe("Incomprehensibilities are rare. ");
  expect(times.begunUntil(1.35)).toBe("Incomprehensibilities are rare. Seven.");
});

test("of a sentence with long numbers, no word counts that was not begun", () => {
  const times = timesOf(["Call 0301234567 or else ask for me.", 8]);
  expect(times.heardUntil(2)).toBe("Call");
});

test("of a sentence whose sound is still being made, as much counts as a slow voice would have said", () => {
  const times = new SentenceTimes();
  times.begin("One two three.");
  times.add(new AudioFrame(new Int16Array(RATE).fill(5_000), RATE, 1, RATE));
  expect(times.heardUntil(1)).toBe("One two");
});
