import { beforeAll, expect, test } from "vitest";
import { reply, text } from "../../src/model-server/step.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";
import { ExportedTelemetry } from "../telemetry/exported-telemetry.ts";

const LONG = "One two three four five six seven eight nine ten eleven twelve. Then we count again from the start.";
const QUESTION = "Hold on, what about the weather tomorrow?";

beforeAll(() => warmUp(QUESTION));

test("speech is part of its turn's trace, LiveKit's spans join the trace, and none contains the words", async () => {
  await using exported = await ExportedTelemetry.start();
  const { telemetry, logger, receiver } = exported;
  await using voice = await VoiceAgent.start({ telemetry, logger });
  const user = await voice.speaker("user");
  voice.agent.model.script([reply([text(LONG)]), reply([text("Sunny.")])]);
  await user.client.say("Count, please.");
  await user.untilHeard(1);
  voice.understand(QUESTION);
  await user.say(QUESTION);
  const question = await user.client.next("transcription", ({ final }) => final);
  await user.client.answerTo(question.id);
  await voice.agent.leave();
  await exported.close();

  const foreign = receiver.spans.filter(({ scope }) => scope !== "parley");
  expect(foreign.length).toBeGreaterThan(0);
  expect([receiver.text.includes("weather tomorrow"), receiver.text.includes("seven eight")]).toEqual([false, false]);
  const turns = receiver.named("invoke_agent parley");
  // The first question was typed, so there is a span only for the second one.
  const [hearing, ...others] = receiver.named("parley.hearing");
  expect([hearing?.parentSpanId, others]).toEqual([turns[1]?.spanId, []]);
  const spoken = Number(hearing?.attributes["parley.hearing.spoken"]);
  // The rest of the span is the time from the last sound to the turn: the silence that ends an utterance, and the
  // recognizer's time.
  const silence = ((hearing?.end ?? 0) - (hearing?.start ?? 0)) / 1e9 - spoken;
  expect(spoken).toBeGreaterThan(1);
  expect(silence).toBeGreaterThan(0.2);
  expect(silence).toBeLessThan(5);
  const speeches = receiver.named("parley.speech");
  expect(speeches.map(({ parentSpanId }) => parentSpanId)).toEqual(turns.map(({ spanId }) => spanId));
  expect(speeches.map(({ attributes }) => attributes["parley.speech.interrupted"])).toEqual([true, false]);
  for (const { attributes, start, end } of speeches) {
    const firstHeard = Number(attributes["parley.speech.time_to_first_heard"]);
    expect(firstHeard).toBeGreaterThan(0);
    expect(firstHeard).toBeLessThan((end - start) / 1e9);
  }
});
