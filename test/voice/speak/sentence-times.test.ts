import { AudioFrame } from "@livekit/rtc-node";
import { expect, test } from "vitest";
import { timeWords, type TimedWord } from "../../../src/voice/providers/word-times.ts";
import { SentenceTimes } from "../../../src/voice/speak/sentence-times.ts";

const RATE = 1_000;

/**
 * Returns the times of these sentences. The sound of each lasts the given number of seconds, and has a tenth of a
 * second of silence before and after it.
 */
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

test("the sentences whose sound was played count as heard, and as many words of the next as fit into its sound", () => {
  const times = timesOf(["One two. ", 1], ["Three four five six. ", 2], ["Seven.", 1]);
  expect(times.playedUntil(0.3)).toBe("");
  expect(times.playedUntil(1.3)).toBe("One two. ");
  expect(times.playedUntil(2.6)).toBe("One two. Three four");
  expect(times.playedUntil(4.7)).toBe("One two. Three four five six. Seven.");
});

test("a sentence starts with its first sound, and immediately with its first word", () => {
  const times = timesOf(["Incomprehensibilities are rare. ", 1], ["Seven.", 1]);
  expect(times.begunUntil(0.05)).toBe("");
  expect(times.begunUntil(0.2)).toBe("Incomprehensibilities");
  expect(times.begunUntil(1.25)).toBe("Incomprehensibilities are rare. ");
  expect(times.begunUntil(1.35)).toBe("Incomprehensibilities are rare. Seven.");
});

test("in a sentence with long numbers, no word counts that had not started", () => {
  const times = timesOf(["Call 0301234567 or else ask for me.", 8]);
  expect(times.playedUntil(2)).toBe("Call");
});

/**
 * Returns the times of a sentence with four seconds of sound and with word times. Its last word takes three seconds.
 */
function timedTimes(words: readonly TimedWord[], { text = "One **two** three 1234567.", isWhole = true } = {}) {
  const times = new SentenceTimes();
  times.begin(text, text.replaceAll("*", ""));
  for (let second = 0; second < 4; second++) {
    const frame = new AudioFrame(new Int16Array(RATE).fill(5_000), RATE, 1, RATE);
    const own = words.filter(({ startsAt }) => Math.floor(startsAt) === second);
    const from = (at: number) => at - second;
    timeWords(
      frame,
      own.map(({ text: word, startsAt, endsAt }) => ({ text: word, startsAt: from(startsAt), endsAt: from(endsAt) })),
    );
    times.add(frame);
  }
  if (isWhole) times.end();
  return times;
}

const WORDS: readonly TimedWord[] = [
  { text: "One", startsAt: 0.1, endsAt: 0.3 },
  { text: "two", startsAt: 0.3, endsAt: 0.5 },
  { text: "three", startsAt: 0.5, endsAt: 0.9 },
  { text: "1234567.", startsAt: 1, endsAt: 4 },
];

test("if the voice reports word times, exactly the words that had ended count as heard, even next to markup", () => {
  for (const times of [timedTimes(WORDS), timedTimes(WORDS, { isWhole: false })]) {
    expect(times.playedUntil(0.7)).toBe("One **two**");
    expect(times.playedUntil(1.1)).toBe("One **two** three");
    expect(times.playedUntil(4)).toBe("One **two** three");
    expect(times.begunUntil(0.55)).toBe("One **two** three");
    expect(times.begunUntil(1.1)).toBe("One **two** three 1234567.");
  }
});

test.each<[string, readonly TimedWord[]]>([
  ["count anew", WORDS.with(3, { text: "1234567.", startsAt: 0.2, endsAt: 3 })],
  ["are of words that are spelled out", WORDS.with(3, { text: "million", startsAt: 1, endsAt: 4 })],
  ["come twice", [...WORDS.slice(0, 2), ...WORDS]],
  ["are missing", WORDS.slice(0, 2)],
  ["are no numbers", WORDS.with(0, { text: "One", startsAt: Number.NaN, endsAt: 0.3 })],
])("word times that %s are not used", (_, words) => {
  expect(timedTimes(words).playedUntil(2.2)).toBe(timedTimes([]).playedUntil(2.2));
});

test("of a sentence whose sound is still being generated, as much counts as a slow voice would have said", () => {
  const times = new SentenceTimes();
  times.begin("One two three.");
  times.add(new AudioFrame(new Int16Array(RATE).fill(5_000), RATE, 1, RATE));
  expect(times.playedUntil(1)).toBe("One two");
});
