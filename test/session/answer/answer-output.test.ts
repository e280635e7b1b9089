import { expect, test } from "vitest";
import type { AnswerProgress } from "../../../src/conversation/turn-record.ts";
import type { Message } from "../../../src/protocol/messages/messages.ts";
import { AnswerOutput } from "../../../src/session/answer/answer-output.ts";
import type { Outbox } from "../../../src/session/wire/outbox.ts";
import type { SpokenAnswer } from "../../../src/session/room/voice-port.ts";

interface Earlier {
  readonly texts: readonly string[];
  readonly progress: AnswerProgress;
}

function output({ earlier, spoken }: { earlier?: Earlier; spoken?: SpokenAnswer } = {}) {
  const sentences: [number, string, boolean][] = [];
  const transcribed: string[] = [];
  const reported: AnswerProgress[] = [];
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
    earlier,
    onInterrupted: () => {},
    onProgress: (progress) => reported.push(progress),
  });
  return { answer, sentences, transcribed, asides: () => reported.at(-1)?.asides };
}

const { signal } = new AbortController();

test("an aside without a voice is a separate sentence, and never the final one", async () => {
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

test("a sentence that is incomplete before an aside is completed after it", async () => {
  const { answer, sentences } = output();
  answer.write("It is ");
  await answer.aside("One moment.", signal);
  answer.write("open.");
  await answer.end();
  expect(sentences.map(([, text]) => text)).toEqual(["One moment.", "It is open."]);
});

test("a resumed answer counts the asides that were said before", async () => {
  const first = output();
  first.answer.write("Let me see.");
  first.answer.flush();
  await first.answer.aside("May I?", signal);
  expect(first.asides()).toBe(1);

  const second = output({ earlier: { texts: ["Let me see."], progress: { asides: 1 } } });
  second.answer.sayRest();
  second.answer.write("Yes.");
  await second.answer.end();

  expect(second.sentences).toEqual([[3, "Yes.", true]]);
});

/** A voice whose asides start and end when the test calls `begin` and `end`. */
function spokenBy(): { spoken: SpokenAnswer; begin: () => void; end: (isHeard: boolean) => void } {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let begin = () => {};
  const spoken: Partial<SpokenAnswer> = {
    write: () => {},
    flush: () => {},
    silence: () => {},
    aside: ({ onBegun = () => {} }) => {
      begin = onBegun;
      return { spoken: promise, cut: () => resolve(false) };
    },
    end: async () => ({ heard: undefined }),
  };
  return { spoken: spoken as SpokenAnswer, begin: () => begin(), end: resolve };
}

test("an aside in a session with a voice is shown when it starts to be heard", async () => {
  const { spoken, begin, end } = spokenBy();
  const { answer, sentences, transcribed, asides } = output({ spoken });
  const said = answer.aside("One moment.", signal);
  expect(sentences).toEqual([]);
  begin();
  expect(sentences).toEqual([[1, "One moment.", false]]);
  end(true);
  expect(await said).toBe("heard");
  await answer.end();
  expect([transcribed, sentences.length, asides()]).toEqual([[], 2, 1]);
});

test("an aside that could not be spoken is shown, before the final sentence", async () => {
  const { spoken, end } = spokenBy();
  const { answer, sentences, transcribed, asides } = output({ spoken });
  answer.write("Let me see. Here.");
  const said = answer.aside("May I?", signal);
  answer.silence();
  end(false);
  expect(await said).toBe("shown");
  await answer.end();
  expect(sentences).toEqual([
    [1, "Let me see.", false],
    [2, "May I?", false],
    [3, "Here.", true],
  ]);
  await expect.poll(() => transcribed.join("")).toBe("Let me see. Here. May I?");
  expect(asides()).toBe(1);
});

test("an aside that was cut off before anybody heard it is not shown, and counts as not said", async () => {
  const { spoken } = spokenBy();
  const { answer, sentences } = output({ spoken });
  const controller = new AbortController();
  const said = answer.aside("One moment.", controller.signal);
  controller.abort();
  expect(await said).toBe("unsaid");
  answer.silence();
  await answer.end();
  expect(sentences).toEqual([[1, "", true]]);
});

test("a filler is never shown", async () => {
  const { spoken, begin, end } = spokenBy();
  const { answer, sentences } = output({ spoken });
  const said = answer.filler("One moment.", signal);
  begin();
  answer.silence();
  end(false);
  await said;
  expect(sentences).toEqual([]);
});

test("the worker's last words are transcribed even if they could not be spoken", async () => {
  const { spoken } = spokenBy();
  const { answer, transcribed } = output({ spoken });
  answer.write("Let me see.");
  answer.conclude("I can't help with that.");
  answer.silence();
  await answer.end();
  await expect.poll(() => transcribed.join("")).toBe("Let me see. I can't help with that.");
});

test("nothing is said after the answer has ended", async () => {
  const { answer, sentences } = output();
  await answer.end();
  expect(await answer.aside("Too late.", signal)).toBe("unsaid");
  expect(sentences).toEqual([[1, "", true]]);
});

const TEXTS = ["One. Two. Three.", "Four."];

test("an answer that was cut off when the worker exited continues with the sentences that were not sent", async () => {
  const { answer, sentences, transcribed } = output({
    earlier: { texts: TEXTS, progress: { asides: 1, sent: 3, heard: 1 } },
  });
  answer.sayRest();
  answer.write("Five.");
  await answer.end();
  expect(sentences).toEqual([
    [4, "Three.", false],
    [5, "Four.", false],
    [6, "Five.", true],
  ]);
  await expect.poll(() => transcribed.join("").trim()).toBe("Three. Four.  Five.");
});

test("a sentence whose sound was cut off is spoken again, and not sent again", async () => {
  const words: string[] = [];
  const { spoken } = spokenBy();
  const { answer, sentences } = output({
    spoken: { ...spoken, write: (text) => words.push(text) },
    earlier: { texts: TEXTS, progress: { asides: 0, sent: 2, heard: 1 } },
  });
  answer.sayRest();
  expect(words.join("")).toBe("Two. Three. Four. ");
  expect(answer.playedBefore).toBe("One.");
  await answer.end();
  expect(sentences.map(([sequence, text]) => `${sequence} ${text}`)).toEqual(["3 Three.", "4 Four.", "5 "]);
});

test("an answer that was sent in full is not said again", async () => {
  const { answer, sentences } = output({ earlier: { texts: TEXTS, progress: { asides: 0 } } });
  answer.sayRest();
  await answer.end();
  expect(sentences).toEqual([[5, "", true]]);
});
