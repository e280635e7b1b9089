import { expect, test } from "vitest";
import type { Message } from "../../../src/protocol/messages/messages.ts";
import { AnswerOutput } from "../../../src/session/answer/answer-output.ts";
import type { Outbox } from "../../../src/session/wire/outbox.ts";
import type { SpokenAnswer } from "../../../src/session/room/voice-port.ts";

function output({
  said = { texts: [], asides: 0 },
  spoken,
}: { said?: { texts: string[]; asides: number }; spoken?: SpokenAnswer } = {}) {
  const sentences: [number, string, boolean][] = [];
  const transcribed: string[] = [];
  let asides = 0;
  const answer = new AnswerOutput({
    outbox: {
      post: ({ type, body }: Message) => {
        if (type === "assistant_sentence") sentences.push([body.sequence, body.text, body.isFinal]);
      },
    } as Pick<Outbox, "post"> as Outbox,
    link: {
      openTranscription: () =>
        Promise.resolve({ write: async (text: string) => void transcribed.push(text), close: async () => {} }),
    },
    voice: spoken && { open: () => spoken },
    messageId: "m",
    participant: "user",
    language: "en",
    said,
    onInterrupted: () => {},
    onAside: () => asides++,
  });
  return { answer, sentences, transcribed, asides: () => asides };
}

const { signal } = new AbortController();

test("an aside without a voice is a sentence of its own, and never the final one", async () => {
  const { answer, sentences } = output();
  answer.write("Let me see.");
  answer.flush();
  await answer.aside("May I open the file?", signal);
  answer.write("It is open.");
  await answer.end();
  expect(sentences).toEqual([
    [1, "Let me see.", false],
    [2, "May I open the file?", false],
    [3, "It is open.", true],
  ]);
});

test("a sentence that waits for its end is whole after an aside", async () => {
  const { answer, sentences } = output();
  answer.write("It is ");
  await answer.aside("One moment.", signal);
  answer.write("open.");
  await answer.end();
  expect(sentences.map(([, text]) => text)).toEqual(["One moment.", "It is open."]);
});

test("an answer that is gone on with counts the asides that were said before", async () => {
  const first = output();
  first.answer.write("Let me see.");
  first.answer.flush();
  await first.answer.aside("May I?", signal);

  const second = output({ said: { texts: ["Let me see."], asides: first.asides() } });
  second.answer.write("Yes.");
  await second.answer.end();

  expect(second.sentences).toEqual([[3, "Yes.", true]]);
});

test("an aside in a session with a voice is spoken and not shown", async () => {
  const said: string[] = [];
  const spoken = {
    aside: (text: string) => ({ spoken: Promise.resolve(said.push(text) > 0), cut: () => {} }),
  } as unknown as SpokenAnswer;
  const { answer, sentences, asides } = output({ spoken });
  await answer.aside("One moment.", signal);
  expect([said, sentences, asides()]).toEqual([["One moment."], [], 0]);
});

test("an aside ends with its signal", async () => {
  const cut = Promise.withResolvers<boolean>();
  const spoken = { aside: () => ({ spoken: cut.promise, cut: () => cut.resolve(false) }) } as unknown as SpokenAnswer;
  const { answer } = output({ spoken });
  const controller = new AbortController();
  const done = answer.aside("One moment.", controller.signal);
  controller.abort();
  await expect(done).resolves.toBeUndefined();
});

test("nothing is said after the answer has ended", async () => {
  const { answer, sentences } = output();
  await answer.end();
  await answer.aside("Too late.", signal);
  expect(sentences).toEqual([[1, "", true]]);
});
