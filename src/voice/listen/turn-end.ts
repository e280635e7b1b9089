import { type llm, type VADEvent, VADEventType } from "@livekit/agents";
import type { Logger } from "pino";
import type { TurnEndJudgment } from "../../conversation/turn-timings.ts";
import { primaryLanguage } from "../../lib/language-tag.ts";
import type { DueWords } from "./due-words.ts";
import type { ManualTurns } from "./manual-turns.ts";
import { END_OF_TURN_SAMPLES } from "../../speech/turn-end/end-of-turn-model.ts";
import type { SpeechModelOf } from "../../speech/start-model.ts";

/** A judgment that takes longer than this counts as "not complete". */
const JUDGED_WITHIN_MS = 500;
const ENGLISH_THRESHOLD = 0.36;
/** The lowest score of a complete turn, by language: those of LiveKit's detector. */
const THRESHOLDS: Readonly<Record<string, number>> = {
  ar: 0.35,
  de: 0.245,
  en: ENGLISH_THRESHOLD,
  es: 0.35,
  fr: 0.285,
  hi: 0.305,
  id: 0.345,
  it: 0.23,
  ja: 0.295,
  ko: 0.4,
  nl: 0.2,
  pt: 0.32,
  tr: 0.255,
  zh: 0.355,
};
/** Words that do not end like a sentence lower the score: the probability is divided by this number. */
const UNFINISHED_SENTENCE = 1.5;
const END_OF_SENTENCE = /[.?!…。？！]["'”’»)\]]*$/u;

/** AgentSession's comparison of a score with the language's threshold. */
interface EndOfTurnPrediction {
  readonly probability: number;
  readonly threshold: number;
  /** The silence so far, in ms. */
  readonly delayMs: number;
}

interface TurnEndOptions {
  /** Undefined: a turn ends once its words are known. */
  readonly model: SpeechModelOf<"endOfTurn"> | undefined;
  readonly due: Pick<DueWords, "settled">;
  /** Turns that participants end themselves. */
  readonly manual: Pick<ManualTurns, "ended"> | undefined;
  readonly logger: Logger;
}

/**
 * Judges at each pause whether the participant has finished, by the sound of the last 1.2 s and by the words so far. An
 * AgentSession accepts it as its turn detector: it waits for `complete` or `incomplete` ms of silence
 * (`voice.endOfTurnMs`), and at least until the words are known. Checked with @livekit/agents 1.9.0.
 */
export class TurnEnd {
  readonly model = "turn-end";
  readonly provider = "parley";
  readonly #options: TurnEndOptions;
  /** The newest audio. */
  readonly #samples = new Int16Array(END_OF_TURN_SAMPLES);
  #sound: Promise<number | undefined> | undefined;
  #writesPunctuation = false;
  #parts: Pick<TurnEndJudgment, "sound" | "endsSentence"> | undefined;
  #judgment: TurnEndJudgment | undefined;

  constructor(options: TurnEndOptions) {
    this.#options = options;
  }

  /** Receives all events of the session's voice activity detection. */
  handleActivity({ type, frames }: VADEvent): void {
    if (!this.#options.model) return;
    if (type === VADEventType.START_OF_SPEECH) this.#sound = undefined;
    else if (type === VADEventType.END_OF_SPEECH) this.#sound = this.#judgeSound();
    else for (const { data } of frames) this.#append(data);
  }

  async supportsLanguage(): Promise<boolean> {
    return true;
  }

  async unlikelyThreshold(language?: string): Promise<number> {
    return THRESHOLDS[primaryLanguage(language)] ?? ENGLISH_THRESHOLD;
  }

  /** Returns the score, from 0 to 1. */
  async predictEndOfTurn(context: llm.ChatContext): Promise<number> {
    const sound = await this.#sound;
    await this.#options.manual?.ended;
    // If words were due, AgentSession asks again with them, and ignores this answer.
    await this.#options.due.settled;
    if (!this.#options.model) return 1;
    const endsSentence = this.#endsSentence(context.items.at(-1));
    this.#parts = { ...(sound !== undefined && { sound }), ...(endsSentence !== undefined && { endsSentence }) };
    return (sound ?? 0) / (endsSentence === false ? UNFINISHED_SENTENCE : 1);
  }

  /** Receives AgentSession's comparison of the last score. */
  handlePrediction({ probability, threshold, delayMs }: EndOfTurnPrediction): void {
    if (!this.#options.model) return;
    this.#judgment = { ...this.#parts, isComplete: probability >= threshold };
    this.#options.logger.debug({ ...this.#judgment, threshold, silenceMs: delayMs }, "end of turn judged");
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

  /** Returns undefined as long as the recognizer has written no punctuation. */
  #endsSentence(last: llm.ChatItem | undefined): boolean | undefined {
    const text = last?.type === "message" ? (last.textContent ?? "").trim() : "";
    const endsSentence = END_OF_SENTENCE.test(text);
    this.#writesPunctuation ||= endsSentence;
    return this.#writesPunctuation ? endsSentence : undefined;
  }

  async #judgeSound(): Promise<number | undefined> {
    const { model } = this.#options;
    try {
      const signal = AbortSignal.timeout(JUDGED_WITHIN_MS);
      const [sound] = model ? await Array.fromAsync(model.ask(this.#samples.slice(), { signal })) : [];
      return sound;
    } catch (error) {
      this.#options.logger.warn({ error }, "turn end not judged by sound");
      return undefined;
    }
  }
}
