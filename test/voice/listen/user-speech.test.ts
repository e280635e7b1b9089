import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Quiet, UserSpeech } from "../../../src/voice/listen/user-speech.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function recordSpeech({ isHeldBack = false } = {}) {
  const partial: [string, string][] = [];
  const whole: [string, string][] = [];
  const spoken: unknown[] = [];
  const speech = new UserSpeech({
    take: (input) => {
      if (input.type === "transcript") partial.push([input.transcript.id, input.transcript.text]);
      if (input.type !== "utterance") return;
      whole.push([input.transcript.id, input.transcript.text]);
      spoken.push(input.transcript.spoken);
    },
    speaker: () => ({ identity: "user", sid: "", isSip: false }),
    isHeldBack: () => isHeldBack,
    isSpeaking: () => false,
    spoken: () => ({ fromAt: 100, toAt: 900 }),
    giveUpAfterMs: 2_000,
  });
  const take = (text: string, isFinal: boolean) => speech.take(text, { isFinal, language: undefined });
  return { speech, take, partial, whole, spoken };
}

test("recognized text grows under one id until it is complete", () => {
  const { speech, take, partial, whole, spoken } = recordSpeech();
  take("What", false);
  take("What time", true);
  take("is it?", true);
  speech.complete("What time is it?");
  expect(partial.map(([, text]) => text)).toEqual(["What", "What time", "What time is it?"]);
  expect(new Set([...partial, ...whole].map(([id]) => id)).size).toBe(1);
  expect(whole.map(([, text]) => text)).toEqual(["What time is it?"]);
  expect(spoken).toEqual([{ fromAt: 100, toAt: 900 }]);
});

test("words that were passed on are taken back when they are dropped", () => {
  const { speech, take, partial, whole } = recordSpeech();
  speech.dismiss();
  take("What time", true);
  speech.dismiss();
  take("Stop", true);
  speech.complete("Stop");

  const [first, dropped, next] = partial;
  expect(partial.map(([, text]) => text)).toEqual(["What time", "", "Stop"]);
  expect(dropped?.[0]).toBe(first?.[0]);
  expect(next?.[0]).not.toBe(first?.[0]);
  expect(whole.map(([, text]) => text)).toEqual(["Stop"]);
});

test("the next utterance has another id", () => {
  const { speech, take, whole } = recordSpeech();
  take("One.", true);
  speech.complete("One.");
  take("Two.", true);
  speech.complete("Two.");
  expect(new Set(whole.map(([id]) => id)).size).toBe(2);
});

test("an empty result is not passed on", () => {
  const { speech, take, partial, whole } = recordSpeech();
  take("  ", true);
  speech.complete("");
  expect([partial, whole]).toEqual([[], []]);
});

test("words over a speech that may not be interrupted are passed on when AgentSession keeps them", () => {
  const { take, whole } = recordSpeech({ isHeldBack: true });
  take("Wait.", true);
  vi.advanceTimersByTime(1_999);
  expect(whole).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(whole.map(([, text]) => text)).toEqual(["Wait."]);
});

test("words that AgentSession passes on by itself are not passed on twice", () => {
  const { speech, take, whole } = recordSpeech({ isHeldBack: true });
  take("Wait.", true);
  speech.complete("Wait.");
  vi.advanceTimersByTime(10_000);
  expect(whole).toHaveLength(1);
});

function quietness() {
  const quiet = new Quiet(2_000);
  const isReached = async () => {
    let is = false;
    void quiet.reached.then(() => (is = true));
    await vi.advanceTimersByTimeAsync(0);
    return is;
  };
  return { quiet, isReached };
}

test("it is quiet before anything is said", async () => {
  expect(await quietness().isReached()).toBe(true);
});

test("silence alone does not count as quiet, because the words may not be recognized yet", async () => {
  const { quiet, isReached } = quietness();
  quiet.handleSpeech();
  quiet.handleSilence();
  expect(await isReached()).toBe(false);
  quiet.handleRecognized();
  expect(await isReached()).toBe(true);
});

test("speech in which nothing is recognized counts as over after a while", async () => {
  const { quiet, isReached } = quietness();
  quiet.handleSpeech();
  quiet.handleSilence();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await isReached()).toBe(true);
});

test("a waiting caller keeps waiting when the participant speaks again", async () => {
  const { quiet, isReached } = quietness();
  quiet.handleSpeech();
  const first = quiet.reached;
  quiet.handleSilence();
  quiet.handleSpeech();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(quiet.reached).toBe(first);
  expect(await isReached()).toBe(false);
});

const person = (identity: string) => ({ identity, sid: "", isSip: false });

function heardFrom(listened: { now: string }) {
  const utterances: unknown[] = [];
  const speech = new UserSpeech({
    take: (input) => {
      if (input.type === "utterance")
        utterances.push([input.from.identity, input.transcript.text, input.transcript.isMixed === true]);
    },
    speaker: () => person(listened.now),
    isHeldBack: () => false,
    isSpeaking: () => false,
    spoken: () => undefined,
    giveUpAfterMs: 2_000,
  });
  const take = (text: string, speaker?: string) =>
    speech.take(text, {
      isFinal: true,
      language: undefined,
      speaker: speaker === undefined ? undefined : person(speaker),
    });
  return { speech, take, utterances };
}

test("late words belong to the participant in whose stream they arrived", () => {
  const listened = { now: "eve" };
  const { speech, take, utterances } = heardFrom(listened);
  speech.begin();
  expect(speech.changeSpeaker(false)).toBe(true);
  listened.now = "ann";
  speech.begin();
  take("Yes.", "eve");
  speech.complete("Yes.");
  expect(utterances).toEqual([["eve", "Yes.", false]]);
});

test("an utterance with words from two participants is marked as mixed", () => {
  const { speech, take, utterances } = heardFrom({ now: "ann" });
  take("Yes.", "eve");
  take("What is it?", "ann");
  speech.complete("Yes. What is it?");
  expect(utterances).toEqual([["eve", "Yes. What is it?", true]]);
});
