import { SentenceCutter } from "./cut-sentences.ts";

/** Where an answer's words go. Called in order; must not throw. */
export interface SpeechOutput {
  readonly onSentence: (sentence: { readonly text: string; readonly isFinal: boolean }) => void;
  /** The same text as it comes, not cut into sentences. */
  readonly onText: (text: string) => void;
}

/** Cuts an answer's text into sentences as it streams. The last sentence is final; it may be empty. */
export class Speaker {
  readonly #output: SpeechOutput;
  readonly #cutter: SentenceCutter;
  #hasBegun: boolean;
  #isNewThought = false;

  /**
   * @param language a BCP 47 tag; an unknown one falls back to the default
   * @param hasBegun whether something of the answer has been said before
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

  /** Ends the current sentence: a tool runs, or a new block begins. */
  flush(): void {
    const rest = this.#cutter.end();
    if (rest.trim() !== "") this.#say(rest, false);
    this.#isNewThought = this.#hasBegun;
  }

  /**
   * Returns an aside as it is to stand in the text, with a space before it. Text that waits for the end of its sentence
   * goes on waiting, so that the answer's own sentences stay the same and a worker that resumes the answer can count them.
   */
  besides(text: string): string {
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

/** The sentences into which these text blocks were cut. */
export function sentencesOf(texts: readonly string[], language: string | undefined): string[] {
  const sentences: string[] = [];
  const speaker = new Speaker({ onSentence: ({ text }) => sentences.push(text), onText: () => {} }, { language });
  for (const text of texts) {
    speaker.write(text);
    speaker.flush();
  }
  return sentences;
}
