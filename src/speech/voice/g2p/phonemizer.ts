import { isAlpha, isDigits } from "../text/characters.ts";
import type { TracedText } from "../text/traced-text.ts";
import { MARKS, splitWords } from "./split-words.ts";
import { applyStress, CONSONANTS, PRIMARY, stressWeight, VOWELS } from "./stress.ts";
import type { Tagger } from "./tagger.ts";
import { type Following, joinPhonemes, mergeTokens, textOf, type Token } from "./token.ts";
import type { Tokenizer } from "./tokenizer.ts";
import type { WordReader } from "./word-reader.ts";

export interface Phonemes {
  readonly text: string;
  /** For each character of `text`, the index of the corresponding character in the written text. */
  readonly origins: readonly number[];
}

const LINK = /\[([^\]]+)\]\(([^)]*)\)/g;
const SILENT = new Set("',-._‘’/");
const isSilent = (text: string): boolean => Array.from(text).every((letter) => SILENT.has(letter));
const isPause = (letter: string): boolean => MARKS.has(letter) && !'"“”'.includes(letter);

/** Converts text to the phonemes that the voice was trained with. */
export class Phonemizer {
  readonly #tokenizer: Tokenizer;
  readonly #tagger: Tagger;
  readonly #words: WordReader;

  constructor(tokenizer: Tokenizer, tagger: Tagger, words: WordReader) {
    this.#tokenizer = tokenizer;
    this.#tagger = tagger;
    this.#words = words;
  }

  /** Converts one normalized sentence. */
  async read({ text, origins }: TracedText): Promise<Phonemes> {
    const words = splitWords(this.#tokensOf(text));
    await this.#readWords(words);
    let phonemes = "";
    const phonemeOrigins: number[] = [];
    for (const word of words) {
      const written = joinPhonemes(word).replaceAll("ɾ", "T").replaceAll("ʔ", "t");
      const spoken = written + (word.at(-1)?.isSpaced ? " " : "");
      phonemes += spoken;
      const origin = origins[word[0]?.start ?? 0] ?? 0;
      for (let at = 0; at < spoken.length; at++) phonemeOrigins.push(origin);
    }
    const start = phonemes.length - phonemes.trimStart().length;
    const trimmed = phonemes.trim();
    return { text: trimmed, origins: phonemeOrigins.slice(start, start + trimmed.length) };
  }

  /** Splits text into tokens. `[text](/phonemes/)` specifies a word's pronunciation. */
  #tokensOf(text: string): Token[] {
    const tokens: Token[] = [];
    let end = 0;
    for (const { 0: link, 1: written = "", 2: target = "", index } of text.matchAll(LINK)) {
      tokens.push(...this.#plainTokens(text.slice(end, index), end));
      end = index + link.length;
      const isPhonemes = target.length > 1 && target.startsWith("/") && target.endsWith("/");
      tokens.push({
        text: written,
        tag: "NN",
        isSpaced: /\s/.test(text[end] ?? ""),
        phonemes: isPhonemes ? target.slice(1).replace(/\/+$/, "") : undefined,
        isHead: true,
        isApart: false,
        start: index,
      });
    }
    return [...tokens, ...this.#plainTokens(text.slice(end), end)];
  }

  #plainTokens(text: string, offset: number): Token[] {
    const pieces = this.#tokenizer.tokenize(text);
    const tags = this.#tagger.tag(pieces.map((piece) => piece.text));
    return pieces.map((piece, at) => ({
      ...piece,
      tag: tags[at] ?? "NN",
      isHead: true,
      isApart: false,
      start: piece.start + offset,
    }));
  }

  /** Reads the words from last to first, because the sound of "the" and "to" depends on what follows. */
  async #readWords(words: readonly Token[][]): Promise<void> {
    let following: Following = { isVowel: undefined, isWordTo: false };
    for (const word of words.toReversed()) {
      const [token] = word;
      if (!token) continue;
      if (word.length === 1) {
        token.phonemes ??= this.#words.read(token, following) ?? (await this.#words.guess(token.text));
        following = followedBy(token, token.phonemes, following);
      } else {
        following = await this.#readParts(word as [Token, ...Token[]], following);
      }
    }
  }

  /**
   * Reads the longest runs of parts that the dictionary knows. If an unknown part remains, reads the word as a whole.
   */
  async #readParts(word: [Token, ...Token[]], after: Following): Promise<Following> {
    let following = after;
    let [left, right] = [0, word.length];
    while (left < right) {
      const run = word.slice(left, right);
      const [first] = run;
      if (!first) break;
      const token = mergeTokens([first, ...run.slice(1)]);
      const phonemes = this.#words.read(token, following);
      if (phonemes !== undefined) {
        for (const part of run) part.phonemes = "";
        first.phonemes = phonemes;
        following = followedBy(token, phonemes, following);
        [left, right] = [0, left];
      } else if (left + 1 < right) {
        left++;
      } else {
        if (first.phonemes === undefined && !isSilent(first.text)) {
          for (const part of word) part.phonemes = "";
          word[0].phonemes = await this.#words.guess(textOf(word));
          return following;
        }
        first.phonemes ??= "";
        [left, right] = [0, right - 1];
      }
    }
    settleStress(word);
    return following;
  }
}

function followedBy({ text, tag }: Token, phonemes: string, following: Following): Following {
  const first = Array.from(phonemes).find((each) => VOWELS.has(each) || CONSONANTS.has(each) || isPause(each));
  const isVowel = first === undefined ? following.isVowel : isPause(first) ? undefined : VOWELS.has(first);
  const isWordTo = text === "to" || text === "To" || (text === "TO" && (tag === "TO" || tag === "IN"));
  return { isVowel, isWordTo };
}

const kindOf = (letter: string): string => (isAlpha(letter) ? "letter" : isDigits(letter) ? "digit" : "other");

/**
 * Decides whether a word's parts are spoken separately. If not, and too many parts are stressed, weakens the stress of
 * half of them.
 */
function settleStress(parts: readonly Token[]): void {
  const text = textOf(parts);
  const kinds = new Set(Array.from(text).flatMap((letter) => (SILENT.has(letter) ? [] : kindOf(letter))));
  const isApart = /[ /]/.test(text) || kinds.size > 1;
  for (const part of parts.slice(1)) part.isApart = isApart;
  if (isApart) return;
  const spoken = parts
    .filter((part) => part.phonemes)
    .map((part, at) => {
      const { phonemes = "" } = part;
      return { part, at, isPrimary: phonemes.includes(PRIMARY), weight: stressWeight(phonemes) };
    });
  const [first, second] = spoken;
  const soften = ({ part }: { readonly part: Token }) => {
    part.phonemes = applyStress(part.phonemes ?? "", -0.5);
  };
  if (spoken.length === 2 && first && second && Array.from(first.part.text).length === 1) return soften(second);
  const primary = spoken.filter((each) => each.isPrimary).length;
  if (spoken.length < 2 || primary <= Math.floor((spoken.length + 1) / 2)) return;
  spoken
    .toSorted((a, b) => Number(a.isPrimary) - Number(b.isPrimary) || a.weight - b.weight || a.at - b.at)
    .slice(0, Math.floor(spoken.length / 2))
    .forEach(soften);
}
