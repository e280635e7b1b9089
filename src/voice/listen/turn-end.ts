import { type llm, type VADEvent, VADEventType } from "@livekit/agents";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { END_OF_TURN_SAMPLES } from "../../speech/end-of-turn-model.ts";
import type { SpeechModelOf } from "../../speech/start-model.ts";

/** A judgment that takes longer than this counts as "not complete". */
const JUDGED_WITHIN_MS = 500;
/** How long the words of the last speech are awaited. */
const WORDS_WITHIN_MS = 1_000;
/**
 * The least probability with which the model calls a turn complete, by language. They are 0.83 of LiveKit's own, because
 * the words are judged as well (docs/decisions/end-of-turn.md).
 */
const THRESHOLDS: Readonly<Record<string, number>> = {
  ar: 0.29,
  de: 0.2,
  en: 0.3,
  es: 0.29,
  fr: 0.24,
  hi: 0.25,
  id: 0.29,
  it: 0.19,
  ja: 0.25,
  ko: 0.33,
  nl: 0.17,
  pt: 0.27,
  tr: 0.21,
  zh: 0.3,
};
const END_OF_SENTENCE = /[.?!…。？！]["'”’»)\]]*$/u;

/** How the end of a turn was judged. */
export interface TurnEndJudgment {
  /** The probability by the sound, from 0 to 1. Undefined if the model failed or took too long. */
  readonly sound: number | undefined;
  /** Whether the words end like a sentence. Undefined if this recognizer has written no punctuation so far. */
  readonly endsSentence: boolean | undefined;
  readonly isComplete: boolean;
}

interface TurnEndOptions {
  readonly model: SpeechModelOf<"endOfTurn">;
  /** Resolves once the words of all speech so far are known. */
  readonly settled: () => Promise<void>;
  readonly logger: Logger;
}

/**
 * Judges at each pause whether the participant has finished, by the sound of the last 1.2 s and by the words so far. An
 * AgentSession accepts it as its turn detector: it waits for `complete` or `incomplete` ms of silence
 * (`voice.endOfTurnMs`). Checked with @livekit/agents 1.9.0.
 */
export class TurnEnd {
  readonly model = "turn-end";
  readonly provider = "parley";
  readonly #options: TurnEndOptions;
  /** The newest audio. */
  readonly #samples = new Int16Array(END_OF_TURN_SAMPLES);
  #sound: Promise<number | undefined> | undefined;
  #writesPunctuation = false;
  #judgment: TurnEndJudgment | undefined;

  constructor(options: TurnEndOptions) {
    this.#options = options;
  }

  /** Receives all events of the session's voice activity detection. */
  handleActivity({ type, frames }: VADEvent): void {
    if (type === VADEventType.START_OF_SPEECH) this.#sound = undefined;
    else if (type === VADEventType.END_OF_SPEECH) this.#sound = this.#judgeSound();
    else for (const { data } of frames) this.#append(data);
  }

  async supportsLanguage(): Promise<boolean> {
    return true;
  }

  async unlikelyThreshold(): Promise<number> {
    return 0.5;
  }

  /** Returns 1 if the participant has finished, and 0 otherwise. */
  async predictEndOfTurn(context: llm.ChatContext): Promise<number> {
    const startedAt = performance.now();
    const [sound] = await Promise.all([this.#sound, within(this.#options.settled(), WORDS_WITHIN_MS)]);
    const judgment = this.#judge(sound, context.items.at(-1));
    this.#judgment = judgment;
    this.#options.logger.debug({ ...judgment, tookMs: Math.round(performance.now() - startedAt) }, "turn end judged");
    return judgment.isComplete ? 1 : 0;
  }

  /** Returns the last judgment, which ended the turn. */
  take(): TurnEndJudgment | undefined {
    const judgment = this.#judgment;
    this.#judgment = undefined;
    return judgment;
  }

  #append(samples: Int16Array): void {
    this.#samples.copyWithin(0, samples.length);
    this.#samples.set(samples, END_OF_TURN_SAMPLES - samples.length);
  }

  #judge(sound: number | undefined, last: llm.ChatItem | undefined): TurnEndJudgment {
    const text = last?.type === "message" ? (last.textContent ?? "").trim() : "";
    const hasFullStop = END_OF_SENTENCE.test(text);
    this.#writesPunctuation ||= hasFullStop;
    const endsSentence = this.#writesPunctuation ? hasFullStop : undefined;
    const isComplete = sound !== undefined && sound >= (THRESHOLDS["en"] ?? 0.3) && endsSentence !== false;
    return { sound, endsSentence, isComplete };
  }

  async #judgeSound(): Promise<number | undefined> {
    try {
      return await this.#options.model.ask(this.#samples.slice(), AbortSignal.timeout(JUDGED_WITHIN_MS));
    } catch (error) {
      this.#options.logger.warn({ error }, "turn end not judged by sound");
      return undefined;
    }
  }
}

async function within(promise: Promise<unknown>, ms: number): Promise<void> {
  await Promise.race([promise, sleep(ms, undefined, { ref: false })]);
}
