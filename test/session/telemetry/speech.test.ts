import { ROOT_CONTEXT } from "@opentelemetry/api";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { expect, test } from "vitest";
import { observeVoice } from "../../../src/session/telemetry/speech-trace.ts";
import type { AnswerToSpeak, SpokenAnswer, VoicePort } from "../../../src/session/room/voice-port.ts";
import { createTelemetry } from "../../../src/telemetry/telemetry.ts";
import { FakeVoice } from "../../support/doubles/fake-voice.ts";

const ANSWER: AnswerToSpeak = {
  messageId: "m",
  participant: "ann",
  language: undefined,
  onPlayed: () => {},
  onInterrupted: () => {},
  onUnspoken: () => {},
};

/** An answer spoken by an observed voice, with its finished spans. */
function open(voice: VoicePort) {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const telemetry = createTelemetry({}, { tracerProvider });
  const speech = observeVoice(voice, { telemetry: () => telemetry, parent: () => ROOT_CONTEXT }).open(ANSWER);
  return { speech, ended: () => exporter.getFinishedSpans().map(({ name, attributes }) => ({ name, attributes })) };
}

const broken = (change: Partial<SpokenAnswer>): VoicePort => {
  const voice = new FakeVoice();
  return {
    isTwoWay: voice.isTwoWay,
    listens: voice.listens,
    speaks: voice.speaks,
    hasManualTurns: voice.hasManualTurns,
    untilQuiet: voice.untilQuiet,
    setInterruptible: voice.setInterruptible,
    prepare: voice.prepare,
    open: (answer) => ({ ...voice.open(answer), ...change }),
  };
};

test("a speech that is heard to its end has a span with the time when it started to be heard", async () => {
  const { speech, ended } = open(new FakeVoice());

  speech?.write("Done.");
  expect(ended()).toEqual([]);
  await speech?.end();

  const attributes = {
    "parley.speech.interrupted": false,
    "parley.speech.time_to_first_heard": expect.any(Number) as number,
  };
  expect(ended()).toEqual([{ name: "parley.speech", attributes }]);
});

test("a speech that is stopped has one span", async () => {
  const { speech, ended } = open(new FakeVoice());

  speech?.stop();
  await speech?.end();

  expect(ended()).toEqual([{ name: "parley.speech", attributes: { "parley.speech.interrupted": false } }]);
});

test("a speech that fails has a span that ends, too", async () => {
  const { speech, ended } = open(broken({ end: () => Promise.reject(new Error("The voice is gone")) }));

  await expect(speech?.end()).rejects.toThrow("The voice is gone");

  expect(ended()).toHaveLength(1);
});

test("without listeners there is no span", () => {
  const voice = new FakeVoice();
  const { speech, ended } = open({ ...broken({}), open: () => undefined, untilQuiet: voice.untilQuiet });

  expect([speech, ended()]).toEqual([undefined, []]);
});
