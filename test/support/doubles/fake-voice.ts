import { abortable } from "../../../src/lib/abortable.ts";
import type { AnswerToSpeak, Aside, SpokenAnswer, VoicePort } from "../../../src/session/room/voice-port.ts";

/** A voice without sound. Words count as heard at once, while an aside lasts `asideMs`. */
export class FakeVoice implements VoicePort {
  readonly isTwoWay = true;
  readonly listens = true;
  readonly speaks = true;
  readonly hasManualTurns = false;
  /** In order: the answer's words, and asides in brackets. A dash ends an aside that was cut off. */
  readonly said: string[] = [];
  /** How long an aside lasts. */
  readonly asideMs: number;
  #quiet = Promise.resolve();
  #heard = Promise.resolve();

  constructor({ asideMs = 500 }: { asideMs?: number } = {}) {
    this.asideMs = asideMs;
  }

  /** Makes the participant speak until the returned function is called. */
  speakOver(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#quiet = promise;
    return resolve;
  }

  /** Makes the answer's words last until the returned function is called. */
  holdWords(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#heard = promise;
    return resolve;
  }

  readonly untilQuiet = (signal: AbortSignal) => abortable(this.#quiet, signal);
  readonly setInterruptible = () => {};
  readonly prepare = () => () => {};

  readonly open = ({ onPlayed }: AnswerToSpeak): SpokenAnswer => {
    const asides: Promise<boolean>[] = [];
    return {
      write: (text) => {
        this.said.push(text);
        onPlayed(text);
      },
      endSentence: () => {},
      flush: () => {},
      aside: ({ text, onBegun }) => {
        onBegun?.();
        const aside = this.#aside(text);
        asides.push(aside.spoken);
        return aside;
      },
      think: () => {},
      untilPlayed: () => this.#heard,
      silence: () => {},
      stop: () => {},
      end: async () => {
        await Promise.all([this.#heard, ...asides]);
        return { heard: undefined };
      },
    };
  };

  #aside(text: string): Aside {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const at = this.said.push(`(${text})`) - 1;
    setTimeout(() => resolve(true), this.asideMs);
    void promise.then((isWhole) => {
      if (!isWhole) this.said[at] = `(${text}-)`;
    });
    return { spoken: promise, cut: () => resolve(false) };
  }
}
