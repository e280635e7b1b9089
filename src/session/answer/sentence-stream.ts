import { SentenceCutter } from "./cut-sentences.ts";

/** Receives an answer's text. Methods are called in order and must not throw. */
export interface SpeechOutput {
  readonly onSentence: (sentence: { readonly text: string; readonly isFinal: boolean }) => void;
  /** Receives the same text unsplit, as it arrives. */
  readonly onText: (text: string) => void;
}

/** Splits an answer's text into sentences as it streams. The last sentence is marked final and may be empty. */
export class SentenceStream {
  readonly #output: SpeechOutput;
  readonly #cutter: SentenceCutter;
  #hasBegun: boolean;
  #isNewThought = false;

  /**
   * @param language a BCP 47 tag; an unknown language falls back to the default
   * @param hasBegun whether part of the answer was already output
   */
  constructor(
    output: SpeechOutput,
    { language, hasBegun = false }: { language: string | undefined; hasBegun?: boolean },
  ) {
    this.#output = output;
    this.#cutter = new SentenceCutter(language);
    this.#hasBegun = hasBegun;
  }

  write(text: string): void {
    this.#output.onText(this.#isNewThought ? ` ${text}` : text);
    this.#isNewThought = false;
    for (const sentence of this.#cutter.write(text)) if (sentence.trim() !== "") this.#say(sentence, false);
  }

  /** Ends the current sentence, without a space before the next one. */
  endSentence(): void {
    const rest = this.#cutter.end();
    if (rest.trim() !== "") this.#say(rest, false);
  }

  /** Ends the current sentence. Call this when a tool runs or a new block begins. */
  flush(): void {
    this.endSentence();
    this.#isNewThought = this.#hasBegun;
  }

  /**
   * Returns an aside for insertion into the running text, with a leading space if needed. Does not end the sentence in
   * progress, so that the aside does not change the answer's own sentences. A worker that resumes the answer can
   * therefore count them.
   */
  formatAside(text: string): string {
    const spaced = this.#hasBegun || this.#cutter.pending !== "" ? ` ${text}` : text;
    this.#hasBegun = true;
    this.#isNewThought = true;
    return spaced;
  }

  end(): void {
    this.#say(this.#cutter.end(), true);
  }

  #say(text: string, isFinal: boolean): void {
    this.#hasBegun = true;
    this.#output.onSentence({ text: text.trim(), isFinal });
  }
}

/** Returns the sentences into which a `SentenceStream` splits these text blocks. */
export function sentencesOf(texts: readonly string[], language: string | undefined): string[] {
  const sentences: string[] = [];
  const stream = new SentenceStream({ onSentence: ({ text }) => sentences.push(text), onText: () => {} }, { language });
  for (const text of texts) {
    stream.write(text);
    stream.flush();
  }
  return sentences;
}
