import { isLower, isUpper } from "./characters.ts";

export interface Sentence {
  readonly text: string;
  /** The start index in the whole text. */
  readonly start: number;
}

// A closing quote or bracket after the period is dropped, because it has no sound.
const END = /(?<=[.!?…])["”’)\]]*\s+(?=\S)/gu;

/**
 * Whether a sentence ends here: not after a title or an initial ("Dr. Smith", "J. K. Rowling"), and not before a
 * lowercase word.
 */
function isEnd(paragraph: string, { index, 0: gap }: RegExpExecArray, titles: ReadonlySet<string>): boolean {
  const next = String.fromCodePoint(paragraph.codePointAt(index + gap.length) ?? 0);
  if (isLower(next)) return false;
  if (paragraph[index - 1] !== ".") return true;
  const word = paragraph.slice(paragraph.lastIndexOf(" ", index - 1) + 1, index - 1).replace(/^[("“'‘]+/, "");
  return !titles.has(word) && !(Array.from(word).length === 1 && isUpper(word));
}

/** Splits a text into paragraphs, and each paragraph into sentences. */
export function splitSentences(text: string, titles: ReadonlySet<string>): Sentence[] {
  const sentences: Sentence[] = [];
  for (const { 0: line, index } of text.matchAll(/[^\n]+/g)) {
    const start = index + line.length - line.trimStart().length;
    const paragraph = line.trim();
    let cut = 0;
    for (const end of paragraph.matchAll(END)) {
      if (!isEnd(paragraph, end, titles)) continue;
      sentences.push({ text: paragraph.slice(cut, end.index), start: start + cut });
      cut = end.index + end[0].length;
    }
    sentences.push({ text: paragraph.slice(cut), start: start + cut });
  }
  return sentences.filter((sentence) => sentence.text.trim());
}
