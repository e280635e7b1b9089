import { evictOldest } from "../../lib/evict-oldest.ts";
import { isAbbreviation } from "./abbreviations.ts";

/** Characters that may appear between a sentence's period and the white space: quotes, brackets and Markdown marks. */
const CLOSERS = /["'”’»“›)\]}*_~`]+$/u;

/** A list item's number, such as "1.", "12)", "a." or "IV.", possibly after Markdown marks. */
const LIST_NUMBER = /^[\s\-*_#>(]*(?:\p{Nd}{1,3}|\p{L}|[ivxlc]{1,5}|[IVXLC]{1,5})[.)]$/u;

/** Single letters before periods, as in "U.S.", "e.g.", "z. B." and the initials of a name. */
const LETTER_ALONE = /(?:^|[\s.([“‘«"/-])\p{L}\p{M}*\.$/u;

/** The abbreviation "p. ex." ("for example") in French and Portuguese. "ex." alone may end a sentence in English. */
const FOR_EXAMPLE = /(?:^|\s)p\.\s?ex\.$/iu;

/** A German ordinal, as in "am 3. Oktober" or "der 2. Versuch". */
const GERMAN_ORDINAL =
  /(?:^|\s)(?:am|vom|zum|zur|der|die|das|dem|den|des|im|beim|ab|bis|seit|jede[nrms]?)\s\p{Nd}{1,4}\.$/iu;

/**
 * Splits streamed text into sentences. The last part is the sentence that may still continue. White space is preserved,
 * so joining the parts yields the text.
 *
 * Unicode's rules find possible sentence ends. On their own, these rules would split after abbreviations and at
 * question marks in web addresses.
 *
 * @param language a BCP 47 tag; an unknown language falls back to the default
 */
export function cutSentences(text: string, language: string | undefined): string[] {
  const sentences: string[] = [];
  let begun = "";
  for (const { segment } of segmenterFor(language).segment(text)) {
    if (begun !== "" && isEnd(begun, segment, language)) {
      sentences.push(begun);
      begun = "";
    }
    begun += segment;
  }
  if (begun !== "") sentences.push(begun);
  return sentences;
}

/** Whether a sentence ends between two adjacent segments of a text. */
function isEnd(before: string, after: string, language: string | undefined): boolean {
  if (/\n\s*$/u.test(before)) return true;
  const words = before.trimEnd();
  const end = words.replace(CLOSERS, "");
  // These marks end a sentence even without white space after them.
  if (/[。！？｡．।॥۔؟]$/u.test(end)) return true;
  if (words.length === before.length) return false;
  if (/(?:\.{2,}|…)$/u.test(end)) return false;
  if (LIST_NUMBER.test(end)) return false;
  if (!end.endsWith(".")) return true;
  const word = /[^\s"'“‘«([{]*$/u.exec(end.slice(0, -1))?.[0] ?? "";
  if (LETTER_ALONE.test(end) || FOR_EXAMPLE.test(end) || isAbbreviation(word, after)) return false;
  return !(language?.toLowerCase().startsWith("de") && GERMAN_ORDINAL.test(end));
}

/** The maximum number of characters in a sentence. Text of this length is sent even if its sentence has not ended. */
const MAX_SENTENCE_LENGTH = 600;

/** Splits text into sentences as it streams. White space is preserved. */
export class SentenceCutter {
  readonly #language: string | undefined;
  #pending = "";

  /** @param language a BCP 47 tag; an unknown language falls back to the default */
  constructor(language: string | undefined) {
    this.#language = language;
  }

  /** The text written since the last sentence ended. */
  get pending(): string {
    return this.#pending;
  }

  /** Appends text and returns the sentences that it completes. */
  write(text: string): string[] {
    this.#pending += text;
    const isLong = this.#pending.length >= MAX_SENTENCE_LENGTH;
    // Tested first, because segmenting is slow and most chunks do not end a sentence.
    if (!isLong && !/[.!?。！？｡．।॥۔؟\n]/u.test(this.#pending)) return [];
    const sentences = cutSentences(this.#pending, this.#language);
    this.#pending = sentences.pop() ?? "";
    if (this.#pending.length >= MAX_SENTENCE_LENGTH) sentences.push(this.end());
    return sentences;
  }

  /** Ends the current sentence, even without punctuation, and returns it. */
  end(): string {
    return this.take(this.#pending.length);
  }

  /** Removes the beginning of the current sentence, and returns it. */
  take(length: number): string {
    const begin = this.#pending.slice(0, length);
    this.#pending = this.#pending.slice(length);
    return begin;
  }
}

/** Segmenters by language. Cached because creating one takes 0.1 ms. */
const segmenters = new Map<string | undefined, Intl.Segmenter>();
const MAX_SEGMENTERS = 50;

function segmenterFor(language: string | undefined): Intl.Segmenter {
  const known = segmenters.get(language);
  if (known) return known;
  const made = makeSegmenter(language);
  segmenters.set(language, made);
  evictOldest(segmenters, MAX_SEGMENTERS);
  return made;
}

function makeSegmenter(language: string | undefined): Intl.Segmenter {
  try {
    return new Intl.Segmenter(language, { granularity: "sentence" });
  } catch {
    return new Intl.Segmenter(undefined, { granularity: "sentence" });
  }
}
