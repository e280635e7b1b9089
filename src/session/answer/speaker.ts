/** Where an answer's words go. Called in order; must not throw. */
export interface SpeechOutput {
  readonly onSentence: (sentence: {
    readonly sequence: number;
    readonly text: string;
    readonly isFinal: boolean;
  }) => void;
  /** The same words as they come, for ordinary LiveKit clients. */
  readonly onText: (text: string) => void;
}

/** Text that has waited for the end of its sentence this long goes out as it is. */
const MAX_SENTENCE_LENGTH = 600;

/** Cuts an answer's text into sentences as it streams. The last sentence of an answer is final, if need be an empty one. */
export class Speaker {
  readonly #output: SpeechOutput;
  readonly #segmenter: Intl.Segmenter;
  #pending = "";
  #sequence: number;
  #isNewThought = false;

  /**
   * @param language a BCP 47 tag; one that is not known falls back to the default
   * @param after the number of the last sentence that was said before
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
    // Cheap test first: segmenting costs, and most deltas end no sentence.
    if (!/[.!?…。！？\n]/u.test(this.#pending) && this.#pending.length < MAX_SENTENCE_LENGTH) return;
    const sentences = [...this.#segmenter.segment(this.#pending)].map(({ segment }) => segment);
    const rest = sentences.pop() ?? "";
    for (const sentence of sentences) if (sentence.trim() !== "") this.#say(sentence, false);
    this.#pending = rest;
    if (rest.length >= MAX_SENTENCE_LENGTH) this.flush();
  }

  /** What is written next is another thought: a tool runs, or a new block begins. */
  flush(): void {
    if (this.#pending.trim() !== "") this.#say(this.#pending, false);
    this.#pending = "";
    this.#isNewThought = this.#sequence > 0;
  }

  /**
   * A sentence of its own that is none of the answer's. What waits for the end of its sentence waits on: so the answer's
   * own sentences are the same with and without it, and a worker that goes on with the answer can count them.
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

/** How many sentences these blocks of text were said in. */
export function countSentences(texts: readonly string[], language: string | undefined): number {
  let count = 0;
  const speaker = new Speaker({ onSentence: () => count++, onText: () => {} }, { language });
  for (const text of texts) {
    speaker.write(text);
    speaker.flush();
  }
  return count;
}

function segmenterFor(language: string | undefined): Intl.Segmenter {
  try {
    return new Intl.Segmenter(language, { granularity: "sentence" });
  } catch {
    return new Intl.Segmenter(undefined, { granularity: "sentence" });
  }
}
