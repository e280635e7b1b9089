import { keepNewest } from "../../lib/keep-newest.ts";

/** Where an answer's words go. Called in order; must not throw. */
export interface SpeechOutput {
  readonly onSentence: (sentence: {
    readonly sequence: number;
    readonly text: string;
    readonly isFinal: boolean;
  }) => void;
  /** The same text as it comes, not cut into sentences. */
  readonly onText: (text: string) => void;
}

/** Text of this length goes out even if its sentence has not ended. In characters. */
const MAX_SENTENCE_LENGTH = 600;

/** Cuts an answer's text into sentences as it streams. The last sentence is final; it may be empty. */
export class Speaker {
  readonly #output: SpeechOutput;
  readonly #segmenter: Intl.Segmenter;
  #pending = "";
  #sequence: number;
  #isNewThought = false;

  /**
   * @param language a BCP 47 tag; an unknown one falls back to the default
   * @param after the number of the last sentence before these
   */
  constructor(output: SpeechOutput, { language, after = 0 }: { language: string | undefined; after?: number }) {
    this.#output = output;
    this.#segmenter = segmenterFor(language);
    this.#sequence = after;
  }

  write(text: string): void {
    this.#output.onText(this.#isNewThought ? ` ${text}` : text);
    this.#isNewThought = false;
    this.#pending += text;
    // The cheap test comes first: segmenting is slow, and most deltas end no sentence.
    if (!/[.!?…。！？\n]/u.test(this.#pending) && this.#pending.length < MAX_SENTENCE_LENGTH) return;
    const sentences = [...this.#segmenter.segment(this.#pending)].map(({ segment }) => segment);
    const rest = sentences.pop() ?? "";
    for (const sentence of sentences) if (sentence.trim() !== "") this.#say(sentence, false);
    this.#pending = rest;
    if (rest.length >= MAX_SENTENCE_LENGTH) this.flush();
  }

  /** Ends the current sentence: a tool runs, or a new block begins. */
  flush(): void {
    if (this.#pending.trim() !== "") this.#say(this.#pending, false);
    this.#pending = "";
    this.#isNewThought = this.#sequence > 0;
  }

  /**
   * Sends a sentence that is not part of the answer. Text that waits for the end of its sentence goes on waiting. So
   * the answer's own sentences stay the same, and a worker that takes the answer up can count them.
   */
  aside(text: string): void {
    this.#output.onText(this.#sequence > 0 ? ` ${text}` : text);
    this.#say(text, false);
    this.#isNewThought = true;
  }

  end(): void {
    this.#say(this.#pending, true);
    this.#pending = "";
  }

  #say(text: string, isFinal: boolean): void {
    this.#sequence += 1;
    this.#output.onSentence({ sequence: this.#sequence, text: text.trim(), isFinal });
  }
}

/** The number of sentences into which these text blocks were cut. */
export function countSentences(texts: readonly string[], language: string | undefined): number {
  let count = 0;
  const speaker = new Speaker({ onSentence: () => count++, onText: () => {} }, { language });
  for (const text of texts) {
    speaker.write(text);
    speaker.flush();
  }
  return count;
}

/** By language. They are kept because to make one takes a tenth of a millisecond. */
const segmenters = new Map<string | undefined, Intl.Segmenter>();
const MAX_SEGMENTERS = 50;

function segmenterFor(language: string | undefined): Intl.Segmenter {
  const known = segmenters.get(language);
  if (known) return known;
  const made = makeSegmenter(language);
  segmenters.set(language, made);
  keepNewest(segmenters, MAX_SEGMENTERS);
  return made;
}

function makeSegmenter(language: string | undefined): Intl.Segmenter {
  try {
    return new Intl.Segmenter(language, { granularity: "sentence" });
  } catch {
    return new Intl.Segmenter(undefined, { granularity: "sentence" });
  }
}
