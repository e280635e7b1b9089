import type { AudioFrame } from "@livekit/rtc-node";

/** When a sentence is heard, in seconds of the part's sound. */
interface SentenceTime {
  readonly text: string;
  /** Its first sound. Infinity until it has one; where it has none, its place. */
  readonly beginsAt: number;
  /** Its last sound so far. */
  readonly endsAt: number;
  /** Whether all of its sound has been made. */
  readonly isComplete: boolean;
}

/** 16-bit samples below this are silence. */
const SILENT = 300;
/** Sound of this length may be on its way to the participant, and unheard. In seconds. */
const ON_THE_WAY = 0.15;
/** How fast a sentence is read whose sound is not complete, in letters a second. Voices are faster. */
const SLOW_RATE = 8;
/** Each digit may be a word. In letters. */
const DIGIT = 5;

/** When each sentence of a spoken part is heard, by the sound that was made of it. */
export class SentenceTimes {
  readonly #sentences: { -readonly [Field in keyof SentenceTime]: SentenceTime[Field] }[] = [];
  #seconds = 0;

  get sentences(): readonly SentenceTime[] {
    return this.#sentences;
  }

  /** The sound of another sentence follows. */
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

  /** The sentence's sound is complete. */
  end(): void {
    const sentence = this.#sentences.at(-1);
    if (!sentence) return;
    sentence.beginsAt = Math.min(sentence.beginsAt, sentence.endsAt);
    sentence.isComplete = true;
  }

  /** The text of which the sound has begun when so much was played: of a sentence at least its first word. */
  begunUntil(seconds: number): string {
    return this.#textUntil(seconds, { isFirstWordIn: true });
  }

  /** The text that was heard when so much was played: never a word too many. */
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

/** The first words of a sentence, up to a weight, but at least so many. */
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

/** How long a text takes to say, in letters. */
function weightOf(text: string): number {
  const digits = text.match(/\p{Nd}/gu)?.length ?? 0;
  return text.replace(/\s/gu, "").length + digits * (DIGIT - 1);
}
