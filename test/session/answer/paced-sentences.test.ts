import { expect, test } from "vitest";
import type { AnswerProgress } from "../../../src/conversation/turn-record.ts";
import { PacedSentences } from "../../../src/session/answer/paced-sentences.ts";

function paced() {
  const sent: [number, string, boolean][] = [];
  const reported: AnswerProgress[] = [];
  const sentences = new PacedSentences({
    before: { asides: 0, sent: 0, heard: 0 },
    stored: { asides: 0, sent: 0, heard: 0 },
    onProgress: (progress) => reported.push(progress),
    post: ({ sequence, text, isFinal }) => sent.push([sequence, text, isFinal]),
  });
  const add = (text: string, isFinal = false) => sentences.add({ text, isFinal });
  return { sentences, add, sent, reported };
}

test("a sentence is sent when its first letters are heard", () => {
  const { sentences, add, sent } = paced();
  add("One two.");
  add("Three.");
  sentences.markPlayed("One ");
  expect(sent).toEqual([[1, "One two.", false]]);
  sentences.markPlayed("two. ");
  expect(sent).toHaveLength(1);
  sentences.markPlayed("Thr");
  expect(sent.at(-1)).toEqual([2, "Three.", false]);
});

test("a sentence completed only after its start was heard is sent immediately", () => {
  const { sentences, add, sent } = paced();
  sentences.markPlayed("One");
  add("One two.");
  expect(sent).toEqual([[1, "One two.", false]]);
});

test("sentences that were not heard are dropped, and the last sentence is empty", () => {
  const { sentences, add, sent } = paced();
  add("One.");
  add("Two.", true);
  sentences.markPlayed("One.");
  sentences.drop();
  expect(sent).toEqual([
    [1, "One.", false],
    [2, "", true],
  ]);
});

test("an answer whose last sentence was heard gets no further one", () => {
  const { sentences, add, sent } = paced();
  add("One.", true);
  sentences.markPlayed("O");
  sentences.drop();
  expect(sent).toEqual([[1, "One.", true]]);
});

test("all waiting and later sentences are sent once the output is released", () => {
  const { sentences, add, sent } = paced();
  add("One.");
  sentences.release();
  add("", true);
  expect(sent).toEqual([
    [1, "One.", false],
    [2, "", true],
  ]);
});

test("it reports how many sentences were sent, and how many were heard in full", () => {
  const { sentences, add, reported } = paced();
  add("One two.");
  add("Three.");
  expect(reported).toEqual([]);
  sentences.markPlayed("One ");
  sentences.markPlayed("two. ");
  sentences.markPlayed("Three.");
  expect(reported).toEqual([
    { asides: 0, sent: 1, heard: 0 },
    { asides: 0, sent: 1, heard: 1 },
    { asides: 0, sent: 2, heard: 2 },
  ]);
});

test("once sentences are sent as they arrive, it reports only asides", () => {
  const { sentences, add, reported } = paced();
  add("One.");
  sentences.release();
  add("Two.");
  sentences.addAside("One moment.", () => {});
  expect(reported).toEqual([{ asides: 0 }, { asides: 1 }]);
});
