import { keepNewest } from "../../lib/keep-newest.ts";
import { isAbbreviation } from "./abbreviations.ts";

/** What may stand between a sentence's full stop and the white space: quotes, brackets, and the marks of Markdown. */
const CLOSERS = /["'”’»“›)\]}*_~`]+$/u;

/** "1.", "12)", "a.", "IV.": the number of a list's item, perhaps with marks of Markdown before it. */
const LIST_NUMBER = /^[\s\-*_#>(]*(?:\p{Nd}{1,3}|\p{L}|[ivxlc]{1,5}|[IVXLC]{1,5})[.)]$/u;

/** "U.S.", "e.g.", "z. B." and the initials of a name: letters that stand alone before their full stops. */
const LETTER_ALONE = /(?:^|[\s.([“‘«"/-])\p{L}\p{M}*\.$/u;

/** French and Portuguese "for example": "ex." alone may end a sentence in English. */
const FOR_EXAMPLE = /(?:^|\s)p\.\s?ex\.$/iu;

/** A German date: "am 3. Oktober", "der 2. Versuch". */
const GERMAN_ORDINAL =
  /(?:^|\s)(?:am|vom|zum|zur|der|die|das|dem|den|des|im|beim|ab|bis|seit|jede[nrms]?)\s\p{Nd}{1,4}\.$/iu;

/**
 * Cuts a text that is still being written into sentences. The last part is not over yet. White space stays where it is,
 * so the parts together are the text.
 *
 * Unicode's rules find where a sentence may end. They know no abbreviations, take each question mark for an end, and
 * so would cut addresses.
 *
 * @param language BCP 47; an unknown one falls back to the default
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

/** Whether a sentence ends between two parts of a text. */
function isEnd(before: string, after: string, language: string | undefined): boolean {
  if (/\n\s*$/u.test(before)) return true;
  const words = before.trimEnd();
  const end = words.replace(CLOSERS, "");
  // Only in scripts that write no spaces does a sentence end without one.
  if (/[。！？｡．।॥۔؟]$/u.test(end)) return true;
  if (words.length === before.length) return false;
  if (/(?:\.{2,}|…)$/u.test(end)) return false;
  if (LIST_NUMBER.test(end)) return false;
  if (!end.endsWith(".")) return true;
  const word = /[^\s"'“‘«([{]*$/u.exec(end.slice(0, -1))?.[0] ?? "";
  if (LETTER_ALONE.test(end) || FOR_EXAMPLE.test(end) || isAbbreviation(word, after)) return false;
  return !(language?.toLowerCase().startsWith("de") && GERMAN_ORDINAL.test(end));
}

/** Text of this length goes out even if its sentence has not ended. In characters. */
const MAX_SENTENCE_LENGTH = 600;

/** Cuts a text into sentences as it streams. White space stays where it is. */
export class SentenceCutter {
  readonly #language: string | undefined;
  #pending = "";

  /** @param language BCP 47; an unknown one falls back to the default */
  constructor(language: string | undefined) {
    this.#language = language;
  }

  /** What was written since the last sentence ended. */
  get pending(): string {
    return this.#pending;
  }

  /** Returns the sentences that have ended. */
  write(text: string): string[] {
    this.#pending += text;
    const isLong = this.#pending.length >= MAX_SENTENCE_LENGTH;
    // The cheap test comes first: segmenting is slow, and most pieces end no sentence.
    if (!isLong && !/[.!?。！？｡．।॥۔؟\n]/u.test(this.#pending)) return [];
    const sentences = cutSentences(this.#pending, this.#language);
    this.#pending = sentences.pop() ?? "";
    if (this.#pending.length >= MAX_SENTENCE_LENGTH) sentences.push(this.end());
    return sentences;
  }

  /** Ends the current sentence, whatever its last character is, and returns it. */
  end(): string {
    const rest = this.#pending;
    this.#pending = "";
    return rest;
  }
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
