import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { UnrecognizedSpeech } from "../../../src/voice/listen/unrecognized-speech.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function recordReports() {
  let reportCount = 0;
  const unrecognized = new UnrecognizedSpeech(() => reportCount++);
  /** Simulates speech of this length. Its end is detected 250 ms later. */
  const hear = (ms: number) => {
    unrecognized.handleSpeech();
    vi.advanceTimersByTime(ms + 250);
    unrecognized.handleSilence();
  };
  return { unrecognized, hear, reportCount: () => reportCount };
}

test("noises shorter than a second are never reported, however many there are", () => {
  const { unrecognized, hear, reportCount } = recordReports();
  for (let noise = 0; noise < 5; noise++) {
    hear(500);
    hear(350);
    unrecognized.handleTimeout();
  }
  expect(reportCount()).toBe(0);
});

test("a second of speech that is not understood is reported once", () => {
  const { unrecognized, hear, reportCount } = recordReports();
  hear(1_000);
  unrecognized.handleTimeout();
  hear(400);
  unrecognized.handleTimeout();
  expect(reportCount()).toBe(1);
});

test("understood speech is not reported, and what follows it is counted from scratch", () => {
  const { unrecognized, hear, reportCount } = recordReports();
  hear(2_000);
  unrecognized.handleRecognized();
  hear(400);
  unrecognized.handleTimeout();
  expect(reportCount()).toBe(0);
});

test.each([
  ["words", 0],
  ["nothing", 1],
] as const)("while the recognizer is working nothing is reported; when it has found %s, %i times", (answer, times) => {
  const { unrecognized, hear, reportCount } = recordReports();
  hear(1_500);
  unrecognized.handleRequest();
  unrecognized.handleTimeout();
  expect(reportCount()).toBe(0);
  unrecognized.handleResponse(answer);
  expect(reportCount()).toBe(times);
});

test("a recognizer that was given up on is reported once, whatever the length of the speech", () => {
  const { unrecognized, hear, reportCount } = recordReports();
  hear(400);
  unrecognized.handleRequest();
  unrecognized.handleTimeout();
  unrecognized.handleResponse("given_up");
  unrecognized.handleTimeout();
  expect(reportCount()).toBe(1);
});

test("a noise in which the recognizer finds nothing is not reported", () => {
  const { unrecognized, hear, reportCount } = recordReports();
  hear(400);
  unrecognized.handleRequest();
  unrecognized.handleResponse("nothing");
  unrecognized.handleTimeout();
  expect(reportCount()).toBe(0);
});
