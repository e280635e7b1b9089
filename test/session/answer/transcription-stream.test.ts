import { expect, test } from "vitest";
import { TranscriptionStream } from "../../../src/session/answer/transcription-stream.ts";

/** A stream whose writes end when the test says so. */
function slowStream() {
  const written: string[] = [];
  const ends: (() => void)[] = [];
  const stream = new TranscriptionStream(async () => ({
    write: async (text) => {
      written.push(text);
      await new Promise<void>((resolve) => ends.push(resolve));
    },
    close: async () => void written.push("closed"),
  }));
  const endWrite = async () => {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { stream, written, endWrite };
}

test("words that come while others are written go in one write, in their order, before the end", async () => {
  const { stream, written, endWrite } = slowStream();
  stream.write("One ");
  await endWrite();
  for (const word of ["two ", "three ", "four."]) stream.write(word);
  stream.close();
  expect(written).toEqual(["One "]);

  await endWrite();
  expect(written).toEqual(["One ", "two three four."]);
  await endWrite();
  expect(written).toEqual(["One ", "two three four.", "closed"]);
});

test("a stream without words is not opened", async () => {
  const { stream, written } = slowStream();
  stream.write("");
  stream.close();
  await new Promise((resolve) => setImmediate(resolve));

  expect(written).toEqual([]);
});

/** What is written to a stream, and whether as all of it. */
function noted() {
  const written: [string, boolean][] = [];
  const stream = new TranscriptionStream(async () => ({
    write: async (text, isWhole = false) => void written.push([text, isWhole]),
    close: async () => {},
  }));
  return { stream, written };
}

const nextMoment = () => new Promise((resolve) => setImmediate(resolve));

test("words that come in one moment with their end are written as all there is", async () => {
  const { stream, written } = noted();
  stream.write("One ");
  await Promise.resolve();
  stream.write("two.");
  stream.close();
  await nextMoment();

  expect(written).toEqual([["One two.", true]]);
});

test("words after which others may come are not all", async () => {
  const { stream, written } = noted();
  stream.write("One ");
  await nextMoment();
  stream.write("two.");
  stream.close();
  await nextMoment();

  expect(written).toEqual([
    ["One ", false],
    ["two.", false],
  ]);
});
