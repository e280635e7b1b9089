import { expect, test } from "vitest";
import { TranscriptionStream } from "../../../src/session/answer/transcription-stream.ts";

/** A stream whose writes end when the test completes them. */
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

test("words that arrive during a write are written together, in order, before the end", async () => {
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

/** Records what is written to a stream, and whether it was marked as complete. */
function recordedStream() {
  const written: [string, boolean][] = [];
  const stream = new TranscriptionStream(async () => ({
    write: async (text, isWhole = false) => void written.push([text, isWhole]),
    close: async () => {},
  }));
  return { stream, written };
}

const nextMoment = () => new Promise((resolve) => setImmediate(resolve));

test("words that arrive together with their end are written as complete", async () => {
  const { stream, written } = recordedStream();
  stream.write("One ");
  await Promise.resolve();
  stream.write("two.");
  stream.close();
  await nextMoment();

  expect(written).toEqual([["One two.", true]]);
});

test("words that others may follow are not marked as complete", async () => {
  const { stream, written } = recordedStream();
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
