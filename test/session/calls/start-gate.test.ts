import { expect, test } from "vitest";
import { z } from "zod";
import type { HistoryMessage } from "../../../src/conversation/history.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { encode, FakeSession, fakeParticipant, lastUserText } from "../../support/doubles/fake-session.ts";
import { FakeVoice } from "../../support/doubles/fake-voice.ts";

interface Options {
  readonly startWhen?: "turn_confirmed" | "words_spoken";
  readonly onInterrupt?: "block";
}

/** A session in which the model says some words and then calls a tool. */
function startActing(options: Options = {}) {
  const voice = new FakeVoice();
  let runs = 0;
  const act = defineTool({ description: "A.", input: z.object({}), ...options, run: () => ++runs });
  const think = (history: readonly HistoryMessage[]) =>
    lastUserText(history) === undefined ? { text: "Done." } : { text: "I act now.", uses: [{ name: "act" }] };
  const fake = new FakeSession({ tools: { act }, voice, think, publish: async () => {} });
  const user = fakeParticipant("user");
  fake.session.handle({ type: "joined", participant: user });
  const ask = () => {
    fake.session.handle({
      type: "packet",
      from: user,
      bytes: encode(1, { type: "user_message", body: { id: "m", content: "Go" } }),
    });
  };
  const goOn = () => {
    fake.session.handle({
      type: "utterance",
      from: user,
      transcript: { id: "more", text: "No, do not", language: undefined },
    });
  };
  const settle = async () => {
    for (let tick = 0; tick < 50; tick++) await new Promise(setImmediate);
  };
  return { voice, ask, goOn, settle, runs: () => runs, calls: () => fake.recorder.settled };
}

test("a call starts when the participant is silent", async () => {
  const { voice, ask, settle, runs } = startActing();
  const stopSpeaking = voice.speakOver();
  ask();
  await settle();
  expect(runs()).toBe(0);
  stopSpeaking();
  await settle();
  expect(runs()).toBe(1);
});

test.each([undefined, "block"] as const)(
  "if a participant continues speaking, the tool of the abandoned turn never runs (onInterrupt %s)",
  async (onInterrupt) => {
    const { voice, ask, goOn, settle, runs, calls } = startActing(onInterrupt ? { onInterrupt } : {});
    const stopSpeaking = voice.speakOver();
    ask();
    await settle();
    goOn();
    await settle();
    expect(runs()).toBe(0);
    const [first] = calls();
    expect(first?.outcome).toMatchObject({ errorCode: "cancelled", errorMessage: "Cancelled before it was started" });
    stopSpeaking();
    await settle();
    expect(runs()).toBe(1);
  },
);

test("words_spoken: a call starts when the words before it have been heard", async () => {
  const { voice, ask, settle, runs } = startActing({ startWhen: "words_spoken" });
  const heard = voice.holdWords();
  ask();
  await settle();
  expect([voice.said, runs()]).toEqual([["I act now."], 0]);
  heard();
  await settle();
  expect(runs()).toBe(1);
});

test("turn_confirmed: a call does not wait for the words before it", async () => {
  const { voice, ask, settle, runs } = startActing();
  voice.holdWords();
  ask();
  await settle();
  expect(runs()).toBe(1);
});
