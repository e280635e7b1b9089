/** A piece of text that is being converted to phonemes. */
export interface Token {
  text: string;
  /** Its part of speech, as a Penn Treebank tag. */
  tag: string;
  /** Whether white space follows. */
  isSpaced: boolean;
  phonemes?: string | undefined;
  /** Whether it starts a word. False for the later parts of a word. */
  isHead: boolean;
  /** What is read instead of `text`. */
  alias?: string;
  currency?: string | undefined;
  /** Whether it is spoken as a separate word, not joined to the part before it. */
  isApart: boolean;
  /** Its start index in the text. */
  start: number;
}

/** What comes after a word. Already known when the word is read, because words are read from last to first. */
export interface Following {
  /** Whether the next sound is a vowel. Undefined at a pause and at the end. */
  readonly isVowel: boolean | undefined;
  readonly isWordTo: boolean;
}

export const textOf = (tokens: readonly Token[]): string =>
  tokens.map((token, at) => token.text + (token.isSpaced && at < tokens.length - 1 ? " " : "")).join("");

const caseWeight = (text: string): number =>
  Array.from(text).reduce((sum, letter) => sum + (letter === letter.toLowerCase() ? 1 : 2), 0);

/** Merges the parts of a word into one token, without phonemes. */
export function mergeTokens(tokens: readonly [Token, ...Token[]]): Token {
  const heaviest = tokens.reduce((a, b) => (caseWeight(b.text) > caseWeight(a.text) ? b : a));
  const { isHead, isApart, start } = tokens[0];
  return {
    text: textOf(tokens),
    tag: heaviest.tag,
    isSpaced: tokens.at(-1)?.isSpaced ?? false,
    isHead,
    currency: tokens
      .flatMap((token) => token.currency ?? [])
      .toSorted()
      .at(-1),
    isApart,
    start,
  };
}

export function joinPhonemes(tokens: readonly Token[]): string {
  let joined = "";
  for (const { phonemes = "", isApart } of tokens)
    joined += (isApart && phonemes && /\S$/u.test(joined) ? " " : "") + phonemes;
  return joined;
}
