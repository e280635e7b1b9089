import type { ModelBlock, TextDelta } from "../../llm/model-event.ts";
import { cutSentences, SentenceCutter } from "../answer/cut-sentences.ts";

/** A text block: what the model has written of it, in sentences, and what has been made of these sentences. */
export class CheckedText {
  readonly #language: string | undefined;
  readonly #cutter: SentenceCutter;
  /** The sentences that were added, as the model wrote them. */
  #original = "";
  #text = "";
  /** The last sentence of `#text`. */
  #last = "";
  #isLastChanged = false;

  /** @param language a BCP 47 tag; an unknown language falls back to the default */
  constructor(language: string | undefined) {
    this.#language = language;
    this.#cutter = new SentenceCutter(language);
  }

  /** Appends what the model has written. Returns the sentences that it completes, including their white space. */
  write(text: string): string[] {
    return this.#cutter.write(text);
  }

  /** Ends the block. Returns its last sentence, if it has any. */
  end(): string[] {
    const rest = this.#cutter.end();
    return rest === "" ? [] : [rest];
  }

  /**
   * Adds `words` in place of a sentence, with the white space around the sentence, and returns what was added. If two
   * sentences would become one, starts a new line between them, because a worker that resumes the answer must find the
   * same sentences.
   */
  add(sentence: string, words: string): TextDelta {
    const written = sentence.trim();
    const isChanged = words !== written;
    const replaced = words.trim() === "" ? "" : sentence.replace(written, () => words.trim());
    const next = isChanged ? replaced : sentence;
    const isJoined = (isChanged || this.#isLastChanged) && next !== "" && !this.#isSeparate(next);
    const text = isJoined ? `\n${next}` : next;
    this.#original += sentence;
    this.#text += text;
    this.#isLastChanged = isChanged;
    if (text !== "") this.#last = text;
    return { type: "text", text, ...(text !== sentence && { original: sentence }) };
  }

  /**
   * Returns the block with the text that was added. If that is not the text of the model's block, the citations are
   * left out, because they refer to what the model wrote.
   *
   * @param block the model's block, if the model has ended it
   */
  toBlock(block?: ModelBlock): ModelBlock {
    const original = block?.textContent ?? this.#original;
    if (block && original === this.#text) return block;
    const changed = original !== this.#text && { original };
    return { blockType: "text", textContent: this.#text, content: null, ...changed };
  }

  /** Whether the last sentence ends where it did, if `next` follows. */
  #isSeparate(next: string): boolean {
    let length = 0;
    const cuts = cutSentences(this.#last + next, this.#language).map((cut) => (length += cut.length));
    return this.#last === "" || cuts.includes(this.#last.length);
  }
}
