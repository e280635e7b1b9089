import { AudioFrame } from "@livekit/rtc-node";
import { expect, test } from "vitest";
import { TurnWords } from "../../../src/voice/listen/turn-words.ts";

const RATE = 16_000;

/**
 * Returns a piece of sound whose samples all have the same value. `read`, the recognizer, returns the values of all
 * pieces.
 */
const piece = (value: number, seconds = 1) => [
  new AudioFrame(new Int16Array(seconds * RATE).fill(value), RATE, 1, seconds * RATE),
];
const read = async (frames: readonly AudioFrame[]) =>
  frames
    .map(({ data }) => String(data[0]))
    .filter((value) => value !== "0")
    .join("+");

test("a piece is recognized together with the pieces before it", async () => {
  const words = new TurnWords();

  expect(await words.add(piece(1), read)).toBe("1");
  expect(await words.add(piece(2), read)).toBe("1+2");
  expect(await words.peek(piece(3), read)).toBe("1+2+3");
  expect(await words.add(piece(4), read)).toBe("1+2+4");
});

test("a piece without words, such as a cough, is not recognized again", async () => {
  const words = new TurnWords();
  await words.add(piece(1), read);

  expect(await words.add(piece(0), async () => "")).toBe("1");
  expect(await words.add(piece(2), read)).toBe("1+2");
});

test("what has become too long is not recognized again", async () => {
  const words = new TurnWords();
  await words.add(piece(1, 8), read);
  await words.add(piece(2, 6), read);

  expect(await words.add(piece(3, 2), read)).toBe("1+2 3");
  expect(await words.add(piece(4, 2), read)).toBe("1+2 3+4");
});

test("the next turn begins without the words of the last", async () => {
  const words = new TurnWords();
  await words.add(piece(1), read);
  words.clear();

  expect(await words.add(piece(2), read)).toBe("2");
});

test("a turn that ends while its next piece is recognized leaves the next turn that piece", async () => {
  const words = new TurnWords();
  await words.add(piece(1), read);
  const added = words.add(piece(2), read);
  words.clear();

  expect(await added).toBe("2");
  expect(await words.add(piece(3), read)).toBe("2+3");
});

test("the words of another participant follow those of the first, and are recognized without them", async () => {
  const words = new TurnWords();
  await words.add(piece(1), read);
  words.fix();

  expect(await words.add(piece(2), read)).toBe("1 2");
});
