import type { AudioFrame } from "@livekit/rtc-node";
import { alignWords, lettersOf } from "./align-words.ts";
import { timedWordsOf, type TimedWord } from "../providers/word-times.ts";

/** When a sentence is heard, in seconds from the start of the part's audio. */
interface SentenceTime {
  readonly text: string;
  /** The text as the voice received it: without markup, and with numbers and addresses in words. */
  readonly spoken: string;
  /** The word times known so far, in seconds from the same start. */
  readonly words: readonly TimedWord[];
  /**
   * The start of the sentence's first sound. Infinity until a sound is added. For a complete sentence without a sound,
   * the sentence's position in the part's audio.
   */
  readonly beginsAt: number;
  /** The end of its last sound so far. */
  readonly endsAt: number;
  /** Whether all of its audio has been generated. */
  readonly isComplete: boolean;
}

/** 16-bit samples below this are silence. */
const SILENT = 300;
/** How much audio may still be on its way to the participant, and so unheard, in seconds. */
const ON_THE_WAY = 0.15;
/** Assumed speed for a sentence whose audio is incomplete, in letters per second. Voices are faster. */
const SLOW_RATE = 8;
/** The weight of a digit, in letters, since it may be read as a word. */
const DIGIT = 5;

/**
 * Computes, from the audio of a spoken part, when each sentence is heard, and when each word is heard if the voice
 * reports word times.
 */
export class SentenceTimes {
  readonly #sentences: { -readonly [Field in keyof SentenceTime]: SentenceTime[Field] }[] = [];
  #seconds = 0;

  get sentences(): readonly SentenceTime[] {
    return this.#sentences;
  }

  /** Starts another sentence. The next audio belongs to it. */
  begin(text: string, spoken = text): void {
    const [beginsAt, endsAt] = [Number.POSITIVE_INFINITY, this.#seconds];
    this.#sentences.push({ text, spoken, words: [], beginsAt, endsAt, isComplete: false });
  }

  add(frame: AudioFrame): void {
    const { data, samplesPerChannel, sampleRate } = frame;
    const sentence = this.#sentences.at(-1);
    const from = this.#seconds;
    this.#seconds += samplesPerChannel / sampleRate;
    if (!sentence) return;
    const later = ({ text, startsAt, endsAt }: TimedWord) => ({
      text,
      startsAt: from + startsAt,
      endsAt: from + endsAt,
    });
    sentence.words = [...sentence.words, ...timedWordsOf(frame).map(later)];
    if (data.every((sample) => Math.abs(sample) < SILENT)) return;
    sentence.beginsAt = Math.min(sentence.beginsAt, from);
    sentence.endsAt = this.#seconds;
  }

  /** Call this when the audio of the current sentence is complete. */
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

  /** Returns the text that was heard at this playback position. Never includes a word that was not heard. */
  playedUntil(seconds: number): string {
    return this.#textUntil(seconds - ON_THE_WAY, { isFirstWordIn: false });
  }

  #textUntil(seconds: number, { isFirstWordIn }: { readonly isFirstWordIn: boolean }): string {
    let heard = "";
    const least = isFirstWordIn ? 1 : 0;
    for (const sentence of this.#sentences) {
      const { text, spoken, words, beginsAt, endsAt, isComplete } = sentence;
      if (isComplete && endsAt <= seconds) {
        heard += text;
        continue;
      }
      const played = seconds - beginsAt;
      if (played < 0) return heard;
      if (isTimed(sentence)) {
        const said = words.filter((word) => (isFirstWordIn ? word.startsAt : word.endsAt) <= seconds);
        const letters = lettersOf(said.map((word) => word.text).join("")).length;
        const written = wordsIn(text);
        const ends = alignWords(written, wordsIn(spoken));
        const count = ends.findIndex((end) => end > letters);
        return heard + written.slice(0, Math.max(least, count === -1 ? written.length : count)).join("");
      }
      const weight = isComplete ? (played / (endsAt - beginsAt)) * weightOf(text) : played * SLOW_RATE;
      return heard + wordsWithin(text, { atMost: weight, least, weightOf });
    }
    return heard;
  }
}

/**
 * Whether the times of all words so far are known and usable. Times are not usable if a provider restarts its clock
 * with each piece of audio, repeats words or spells out numbers.
 */
function isTimed({ spoken, words, isComplete }: SentenceTime): boolean {
  const letters = lettersOf(words.map(({ text }) => text).join(""));
  const all = lettersOf(spoken);
  const isOrdered = words.every(
    ({ startsAt, endsAt }, at) => startsAt >= (words[at - 1]?.startsAt ?? 0) && endsAt >= startsAt,
  );
  return letters !== "" && isOrdered && (isComplete ? letters === all : all.startsWith(letters));
}

interface Share {
  readonly atMost: number;
  readonly least: number;
  readonly weightOf: (word: string) => number;
}

/** Returns the words of a text, each with the space before it. */
function wordsIn(text: string): string[] {
  return [...text.matchAll(/\s*\S+/gu)].map(([word]) => word);
}

/** Returns the first words of a sentence up to a weight, but at least `least` of them. */
function wordsWithin(text: string, { atMost, least, weightOf }: Share): string {
  let end = 0;
  let left = atMost;
  for (const [index, word] of wordsIn(text).entries()) {
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
