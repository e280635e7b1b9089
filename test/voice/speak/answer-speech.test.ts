import { expect, test } from "vitest";
import { AnswerSpeech } from "../../../src/voice/speak/answer-speech.ts";
import type { Played, Player } from "../../../src/voice/speak/player.ts";
import type { SpokenPart } from "../../../src/voice/speak/spoken-part.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";

/** Returns the speech of an answer, with a player that plays nothing. The test decides how each part ends. */
function speech() {
  const playing: { part: SpokenPart; end: (played: Played) => void }[] = [];
  const events: string[] = [];
  const player: Player = {
    play: (part) => {
      const { promise, resolve } = Promise.withResolvers<Played>();
      playing.push({ part, end: resolve });
      return { done: promise, cut: () => resolve({ end: "cut", heard: "One" }) };
    },
  };
  const answer = new AnswerSpeech(player, {
    messageId: "m",
    participant: "user",
    language: "en",
    onPlayed: (text) => events.push(text),
    onInterrupted: () => events.push("(interrupted)"),
    onUnspoken: () => events.push("(unspoken)"),
  });
  const end = async (index: number, how: Played["end"] = "whole", heard = "") => {
    await expect.poll(() => playing.length).toBeGreaterThan(index);
    playing[index]?.end({ end: how, heard });
  };
  return { answer, events, end, texts: () => playing.map(({ part }) => part.text) };
}

test("text is one part until a flush, and an aside has its place in between", async () => {
  const { answer, end, texts, events } = speech();
  answer.write("One ");
  answer.write("two.");
  const aside = answer.aside({ text: "One moment." });
  answer.write("Three.");
  await end(0);
  await end(1);
  await end(2);
  expect(await answer.end()).toEqual({ heard: undefined });
  expect(texts()).toEqual(["One two.", "One moment.", "Three."]);
  expect(events).toEqual(["One two.", "Three."]);
  expect(await aside.spoken).toBe(true);
});

test("a participant who speaks over it ends it: what was heard is known, and nothing more is spoken", async () => {
  const { answer, end, texts, events } = speech();
  answer.write("One two.");
  answer.flush();
  answer.write("Three four.");
  answer.flush();
  answer.write("Five.");
  await end(0);
  await end(1, "interrupted", "Three");
  expect(await answer.end()).toEqual({ heard: "One two. Three" });
  expect(texts()).toEqual(["One two.", "Three four."]);
  expect(events).toContain("(interrupted)");
});

test("an aside does not count as part of the heard answer", async () => {
  const { answer, end } = speech();
  answer.write("One.");
  answer.aside({ text: "One moment." });
  answer.write("Two.");
  await end(0);
  await end(1, "interrupted", "One mo");
  expect(await answer.end()).toEqual({ heard: "One." });
});

test("an aside that is cut off ends immediately, and the answer continues", async () => {
  const { answer, end } = speech();
  const aside = answer.aside({ text: "One moment." });
  answer.write("Two.");
  aside.cut();
  expect(await aside.spoken).toBe(false);
  await end(1);
  expect(await answer.end()).toEqual({ heard: undefined });
});

test("a waiting aside that is cut off is removed", async () => {
  const { answer, end, texts } = speech();
  answer.write("One.");
  const aside = answer.aside({ text: "One moment." });
  aside.cut();
  answer.write("Two.");
  await end(0);
  await end(1);
  await answer.end();
  expect(texts()).toEqual(["One.", "Two."]);
});

test("once silenced, nothing more is spoken, and everything counts as shown", async () => {
  const { answer, texts } = speech();
  answer.write("One two.");
  answer.silence();
  answer.write("Three.");
  expect(await answer.end()).toEqual({ heard: undefined });
  expect(texts()).toEqual(["One two."]);
});

test("once stopped, unheard text is left out", async () => {
  const { answer } = speech();
  answer.write("One two.");
  answer.stop();
  answer.write("Three.");
  expect(await answer.end()).toEqual({ heard: "One" });
});

test("if it is stopped after everything was heard, it counts as heard in full", async () => {
  const { answer, end } = speech();
  answer.write("One.");
  answer.flush();
  await end(0);
  await answer.untilPlayed();
  answer.stop();
  expect(await answer.end()).toEqual({ heard: undefined });
});

test("text for which no sound could be generated is to be shown, and so is the rest", async () => {
  const { answer, end, texts, events } = speech();
  answer.write("One.");
  answer.flush();
  answer.write("Two.");
  await end(0, "unspoken");
  expect(await answer.end()).toEqual({ heard: undefined });
  expect([texts(), events]).toEqual([["One."], ["(unspoken)"]]);
});

test("blanks alone are not spoken", async () => {
  const { answer, texts } = speech();
  answer.write("\n\n");
  await answer.end();
  expect(texts()).toEqual([]);
});

test("speaking over the last word of a question does not end the turn that asks", async () => {
  const { answer, end, events } = speech();
  const question = answer.aside({ text: "May I pay the bill now?" });
  await end(0, "interrupted", "May I pay the bill");
  expect(await question.spoken).toBe(true);
  expect(events).toEqual([]);
});

test("speaking over the start of a question ends the turn, because the question was not asked", async () => {
  const { answer, end, events } = speech();
  const question = answer.aside({ text: "May I pay the bill now?" });
  await end(0, "interrupted", "May I");
  expect(await question.spoken).toBe(false);
  expect(events).toEqual(["(interrupted)"]);
});

/** Returns the speech of an answer whose parts last forever, with what is played and until when the agent thinks. */
function thinkingSpeech() {
  const played: string[] = [];
  const signals: AbortSignal[] = [];
  const thinking = {
    play: async (_voice: unknown, signal: AbortSignal) => {
      played.push("(thinking)");
      signals.push(signal);
    },
    prepare: () => new Promise<void>(() => {}),
  };
  const player: Player = {
    play: () => {
      played.push("(speech)");
      return { done: new Promise(() => {}), cut: () => {} };
    },
  };
  const ports = { onPlayed: () => {}, onInterrupted: () => {}, onUnspoken: () => {} };
  const about = { messageId: "m", participant: "user", language: "en" };
  const answer = new AnswerSpeech(player, { ...about, ...ports }, { thinking });
  answer.think(new AbortController().signal);
  const untilThinking = async () => {
    await expect.poll(() => played, { timeout: 2_000 }).toEqual(["(thinking)"]);
  };
  return { answer, played, signals, untilThinking };
}

test("the answer's words are spoken at once while the agent is heard thinking", async () => {
  const { answer, played, untilThinking } = thinkingSpeech();
  await untilThinking();

  answer.write("One two.");

  expect(played).toEqual(["(thinking)", "(speech)"]);
});

test.each(["silence", "stop"] as const)("%s also ends the sound of thinking", async (end) => {
  const { answer, signals, untilThinking } = thinkingSpeech();
  await untilThinking();

  answer[end]();

  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

test("an agent that is about to speak is not heard thinking", async () => {
  using clock = new VirtualClock();
  const { answer, played } = thinkingSpeech();

  answer.write("One two.");
  await clock.run(5_000);

  expect(played).toEqual(["(speech)"]);
});
