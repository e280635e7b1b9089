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
