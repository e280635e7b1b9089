import type { AudioFrame } from "@livekit/rtc-node";

/** When a sentence is heard, in seconds of the part's audio. */
interface SentenceTime {
  readonly text: string;
  /** The start of its first sound. Infinity until there is one. If it has no sound at all, its position. */
  readonly beginsAt: number;
  /** The end of its last sound so far. */
  readonly endsAt: number;
  /** Whether all of its audio has been generated. */
  readonly isComplete: boolean;
}

/** 16-bit samples below this are silence. */
const SILENT = 300;
/** Audio of this length may still be on its way to the participant, and unheard. In seconds. */
const ON_THE_WAY = 0.15;
/** Assumed speed for a sentence whose audio is incomplete, in letters per second. Voices are faster. */
const SLOW_RATE = 8;
/** The weight of a digit, in letters, since it may be read as a word. */
const DIGIT = 5;

/** When each sentence of a spoken part is heard, measured from its audio. */
export class SentenceTimes {
  readonly #sentences: { -readonly [Field in keyof SentenceTime]: SentenceTime[Field] }[] = [];
  #seconds = 0;

  get sentences(): readonly SentenceTime[] {
    return this.#sentences;
  }

  /** Starts another sentence. The next audio belongs to it. */
  begin(text: string): void {
    this.#sentences.push({ text, beginsAt: Number.POSITIVE_INFINITY, endsAt: this.#seconds, isComplete: false });
  }

  add({ data, samplesPerChannel, sampleRate }: AudioFrame): void {
    const sentence = this.#sentences.at(-1);
    const from = this.#seconds;
    this.#seconds += samplesPerChannel / sampleRate;
    if (!sentence || data.every((sample) => Math.abs(sample) < SILENT)) return;
    sentence.beginsAt = Math.min(sentence.beginsAt, from);
    sentence.endsAt = this.#seconds;
  }

  /** The audio of the current sentence is complete. */
  end(): void {
    const sentence = this.#sentences.at(-1);
    if (!sentence) return;
    sentence.beginsAt = Math.min(sentence.beginsAt, sentence.endsAt);
    sentence.isComplete = true;
  }

  /**
   * Returns the text whose audio has started at this playback position. Includes at least the first word of a sentence
   * that has begun.
   */
  begunUntil(seconds: number): string {
    return this.#textUntil(seconds, { isFirstWordIn: true });
  }

  /** Returns the text that was heard at this playback position. Never includes a word too many. */
  heardUntil(seconds: number): string {
    return this.#textUntil(seconds - ON_THE_WAY, { isFirstWordIn: false });
  }

  #textUntil(seconds: number, { isFirstWordIn }: { readonly isFirstWordIn: boolean }): string {
    let heard = "";
    for (const { text, beginsAt, endsAt, isComplete } of this.#sentences) {
      if (isComplete && endsAt <= seconds) {
        heard += text;
        continue;
      }
      const played = seconds - beginsAt;
      if (played < 0) return heard;
      const weight = isComplete ? (played / (endsAt - beginsAt)) * weightOf(text) : played * SLOW_RATE;
      return heard + wordsWithin(text, weight, isFirstWordIn ? 1 : 0);
    }
    return heard;
  }
}

/** Returns the first words of a sentence up to a weight, but at least `least` of them. */
function wordsWithin(text: string, weight: number, least: number): string {
  let end = 0;
  let left = weight;
  for (const [index, [word]] of [...text.matchAll(/\s*\S+/gu)].entries()) {
    left -= weightOf(word);
    if (left < 0 && index >= least) break;
    end += word.length;
  }
  return text.slice(0, end);
}

/** Returns how long a text takes to say, in letters. */
function weightOf(text: string): number {
  const digits = text.match(/\p{Nd}/gu)?.length ?? 0;
  return text.replace(/\s/gu, "").length + digits * (DIGIT - 1);
}
