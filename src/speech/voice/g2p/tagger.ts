import { isAlpha, isLower, isUpper, lastCharacters } from "../text/characters.ts";

/** The contents of `tagger.json.gz` in the voice's folder. */
export interface TaggerTables {
  readonly tags: readonly string[];
  /** Words that almost always have the same tag. */
  readonly tagdict: Readonly<Record<string, string>>;
  readonly vocab: readonly string[];
  readonly weights: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const START = ["-START2-", "-START-"] as const;
const END = ["-END-", "-END2-"] as const;
const isAnyDigit = (text: string): boolean => /^\p{Nd}+$/u.test(text);

function normalized(word: string): string {
  if (word.includes("-") && !word.startsWith("-")) return "!HYPHEN";
  if (isAnyDigit(word) && Array.from(word).length === 4) return "!YEAR";
  return /^\p{Nd}/u.test(word) ? "!DIGITS" : word.toLowerCase();
}

function shape(word: string): string {
  const letters = Array.from(word);
  if (isAlpha(word)) {
    if (isLower(word)) return "x";
    if (isUpper(word)) return letters.length > 1 ? "XX" : "X1";
    return isUpper(letters[0] ?? "") && isLower(letters.slice(1).join("")) ? "Xx" : "xX";
  }
  if (isAnyDigit(word)) return "d";
  return letters
    .slice(0, 4)
    .map((letter) => (isAnyDigit(letter) ? "d" : isAlpha(letter) ? "x" : letter))
    .join("");
}

/** A part-of-speech tagger: an averaged perceptron. */
export class Tagger {
  readonly #tables: TaggerTables;
  readonly #known: ReadonlySet<string>;

  constructor(tables: TaggerTables) {
    this.#tables = tables;
    this.#known = new Set(tables.vocab);
  }

  tag(words: readonly string[]): string[] {
    const context = [
      ...START,
      ...words.map((word) => {
        const text = normalized(word);
        return this.#known.has(text) ? text : `<${shape(word)}>`;
      }),
      ...END,
    ];
    const { tagdict } = this.#tables;
    const tags: string[] = [...START];
    for (const [at, word] of words.entries()) {
      const usual = Object.hasOwn(tagdict, word) ? tagdict[word] : undefined;
      tags.push(usual ?? this.#predict(featuresOf(word, { at, context, tags })));
    }
    return tags.slice(START.length);
  }

  #predict(features: readonly string[]): string {
    const { weights, tags } = this.#tables;
    const scores = new Map<string, number>();
    for (const feature of features) {
      if (!Object.hasOwn(weights, feature)) continue;
      for (const [tag, weight] of Object.entries(weights[feature] ?? {}))
        scores.set(tag, (scores.get(tag) ?? 0) + weight);
    }
    if (scores.size === 0) return "NN";
    const score = (tag: string): number => scores.get(tag) ?? 0;
    return tags.reduce((best, tag) =>
      score(tag) > score(best) || (score(tag) === score(best) && tag > best) ? tag : best,
    );
  }
}

interface Place {
  readonly at: number;
  /** The normalized words, with two words of padding before and after them. */
  readonly context: readonly string[];
  readonly tags: readonly string[];
}

function featuresOf(word: string, { at, context, tags }: Place): string[] {
  const [before2 = "", before = "", current = "", after = "", after2 = ""] = context.slice(at, at + 5);
  const [tag2 = "", tag = ""] = tags.slice(at, at + 2);
  return [
    "b",
    `s3=${lastCharacters(word, 3)}`,
    `p1=${String.fromCodePoint(word.codePointAt(0) ?? 0)}`,
    `w=${current}`,
    `sh=${shape(word)}`,
    at === 0 ? "i0" : "i+",
    `t-1=${tag}`,
    `t-2=${tag2}`,
    `t-12=${tag},${tag2}`,
    `w-1=${before}`,
    `s3-1=${lastCharacters(before, 3)}`,
    `w-2=${before2}`,
    `w+1=${after}`,
    `s3+1=${lastCharacters(after, 3)}`,
    `w+2=${after2}`,
  ];
}
