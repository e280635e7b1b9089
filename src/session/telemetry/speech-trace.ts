import type { Context } from "@opentelemetry/api";
import { PARLEY, SPAN } from "../../telemetry/names.ts";
import { quietly } from "../../telemetry/quietly.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";
import type { AnswerToSpeak, SpokenAnswer, VoicePort } from "../room/voice-port.ts";

interface SpeechOptions {
  /** Returns the running turn's telemetry. */
  readonly telemetry: () => Pick<Telemetry, "tracer">;
  /** Returns the running turn's context, if a turn is running. */
  readonly parent: () => Context | undefined;
}

/** Wraps a voice so that each answer has a span, from its opening to the end of its speech. */
export function observeVoice(voice: VoicePort, options: SpeechOptions): VoicePort {
  return {
    isTwoWay: voice.isTwoWay,
    listens: voice.listens,
    speaks: voice.speaks,
    hasManualTurns: voice.hasManualTurns,
    open: (answer) => openObserved(voice, answer, options),
    prepare: (sentence, language) => voice.prepare(sentence, language),
    untilQuiet: (signal) => voice.untilQuiet(signal),
    setInterruptible: (isInterruptible) => voice.setInterruptible(isInterruptible),
  };
}

function openObserved(voice: VoicePort, answer: AnswerToSpeak, options: SpeechOptions): SpokenAnswer | undefined {
  const openedAt = performance.now();
  let firstHeardMs: number | undefined;
  let isInterrupted = false;
  const startTime = new Date();
  const spoken = voice.open({
    ...answer,
    onPlayed: (text) => {
      firstHeardMs ??= performance.now() - openedAt;
      answer.onPlayed(text);
    },
    onInterrupted: () => {
      isInterrupted = true;
      answer.onInterrupted();
    },
  });
  const parent = options.parent();
  if (!spoken || !parent) return spoken;
  const { tracer } = options.telemetry();
  const span = quietly(() => tracer.startSpan(SPAN.speech, { startTime }, parent));
  let hasEnded = false;
  const finish = () =>
    quietly(() => {
      if (!span || hasEnded) return;
      hasEnded = true;
      span.setAttribute(PARLEY.speechInterrupted, isInterrupted);
      if (firstHeardMs !== undefined) span.setAttribute(PARLEY.speechFirstHeard, firstHeardMs / 1_000);
      span.end();
    });
  return {
    write: (text) => spoken.write(text),
    endSentence: () => spoken.endSentence(),
    flush: () => spoken.flush(),
    aside: (aside) => spoken.aside(aside),
    think: (signal) => spoken.think(signal),
    untilPlayed: () => spoken.untilPlayed(),
    silence: () => spoken.silence(),
    stop: () => {
      spoken.stop();
      finish();
    },
    end: async () => {
      try {
        return await spoken.end();
      } finally {
        finish();
      }
    },
  };
}
