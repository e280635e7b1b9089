import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { UnrecognizedSpeech } from "../../../src/voice/listen/unrecognized-speech.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function ears() {
  let told = 0;
  const misheard = new UnrecognizedSpeech(() => told++);
  /** Simulates speech of this length. Its end is detected 250 ms later. */
  const hear = (ms: number) => {
    misheard.handleSpeech();
    vi.advanceTimersByTime(ms + 250);
    misheard.handleSilence();
  };
  return { misheard, hear, told: () => told };
}

test("noises shorter than a second are never reported, however many there are", () => {
  const { misheard, hear, told } = ears();
  for (let noise = 0; noise < 5; noise++) {
    hear(500);
    hear(350);
    misheard.handleTimeout();
  }
  expect(told()).toBe(0);
});

test("a second of speech that is not understood is reported once", () => {
  const { misheard, hear, told } = ears();
  hear(1_000);
  misheard.handleTimeout();
  hear(400);
  misheard.handleTimeout();
  expect(told()).toBe(1);
});

test("understood speech is not reported, and what follows it is counted from scratch", () => {
  const { misheard, hear, told } = ears();
  hear(2_000);
  misheard.handleRecognized();
  hear(400);
  misheard.handleTimeout();
  expect(told()).toBe(0);
});

test.each([
  ["words", 0],
  ["nothing", 1],
] as const)("while the recognizer is working nothing is reported; when it has found %s, %i times", (answer, times) => {
  const { misheard, hear, told } = ears();
  hear(1_500);
  misheard.handleRequest();
  misheard.handleTimeout();
  expect(told()).toBe(0);
  misheard.handleResponse(answer);
  expect(told()).toBe(times);
});

test("a recognizer that was given up on is reported once, whatever the length of the speech", () => {
  const { misheard, hear, told } = ears();
  hear(400);
  misheard.handleRequest();
  misheard.handleTimeout();
  misheard.handleResponse("given_up");
  misheard.handleTimeout();
  expect(told()).toBe(1);
});

test("a noise in which the recognizer finds nothing is not reported", () => {
  const { misheard, hear, told } = ears();
  hear(400);
  misheard.handleRequest();
  misheard.handleResponse("nothing");
  misheard.handleTimeout();
  expect(told()).toBe(0);
});
