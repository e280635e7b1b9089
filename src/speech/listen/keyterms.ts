import { doubleMetaphone } from "double-metaphone";
import { distance } from "fastest-levenshtein";

interface Sound {
  /** Lowercase letters and digits only. */
  readonly letters: string;
  /** How it is pronounced in English, in one or two ways: mostly its consonants. */
  readonly keys: readonly string[];
}

/** Words of a transcript that sound like a keyterm. */
interface Match {
  readonly term: string;
  /** From 0 to `MAX_DIFFERENCE`. */
  readonly difference: number;
  readonly from: number;
  readonly to: number;
}

const WORD = /[\p{L}\p{N}]+(?:['’]\p{L}+)?/gu;
const POSSESSIVE = /['’]s$/u;
/** How many more words than a keyterm has may be heard instead: "LiveKit" as "life kit". */
const MORE_WORDS = 2;
/** How much of the difference between two words is that of their sounds. The rest is that of their letters. */
const SOUND_SHARE = 0.6;
/** The largest difference at which no words of 697 other sentences were replaced (docs/decisions/embedded-speech.md). */
const MAX_DIFFERENCE = 0.2;

/**
 * Replaces words of English transcripts that sound like a keyterm: a name that a recognizer does not know and writes as
 * other words.
 */
export class Keyterms {
  readonly #terms: readonly (Sound & { readonly term: string; readonly words: number })[];

  constructor(terms: readonly string[]) {
    this.#terms = terms.map((term) => ({ term, words: wordsOf(term).length, ...soundOf(term) }));
  }

  correct(transcript: string): string {
    const words = this.#terms.length > 0 ? wordsOf(transcript) : [];
    const taken: Match[] = [];
    for (const match of this.#matches(transcript, words).toSorted((a, b) => a.difference - b.difference))
      if (taken.every(({ from, to }) => match.to <= from || match.from >= to)) taken.push(match);
    return taken
      .toSorted((a, b) => b.from - a.from)
      .reduce((text, { term, from, to }) => text.slice(0, from) + term + text.slice(to), transcript);
  }

  #matches(transcript: string, words: readonly { readonly from: number; readonly to: number }[]): Match[] {
    const matches: Match[] = [];
    for (let first = 0; first < words.length; first++)
      for (let last = first; last < words.length; last++) {
        const from = words[first]?.from ?? 0;
        const heard = transcript.slice(from, words[last]?.to).replace(POSSESSIVE, "");
        // A name does not go on after a comma or in the next sentence.
        if (/[,;:!?]/u.test(heard)) break;
        const terms = this.#terms.filter((each) => last - first < each.words + MORE_WORDS);
        if (terms.length === 0) break;
        const sound = soundOf(heard);
        for (const each of terms) {
          const difference = differenceOf(each, sound);
          if (difference <= MAX_DIFFERENCE)
            matches.push({ term: each.term, difference, from, to: from + heard.length });
        }
      }
    return matches;
  }
}

function wordsOf(text: string): { readonly from: number; readonly to: number }[] {
  return Array.from(text.matchAll(WORD), ({ 0: word, index }) => ({ from: index, to: index + word.length }));
}

function soundOf(text: string): Sound {
  const letters = text
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll(/[^\p{L}\p{N}]/gu, "");
  return { letters, keys: [...new Set(doubleMetaphone(letters))] };
}

/** Returns how different a keyterm and heard words are, from 0. Short keyterms must be more alike than long ones. */
function differenceOf(term: Sound, heard: Sound): number {
  const strictness = (1 + 2 / Math.max(term.keys[0]?.length ?? 0, 1)) / 1.5;
  const bySound = Math.min(...term.keys.flatMap((key) => heard.keys.map((other) => editsPerLetter(key, other))));
  const withLetters = (share: number) => strictness * (SOUND_SHARE * bySound + (1 - SOUND_SHARE) * share);
  // Comparing letters takes most of the time, and most words sound different.
  return withLetters(0) > MAX_DIFFERENCE ? Infinity : withLetters(editsPerLetter(term.letters, heard.letters));
}

function editsPerLetter(one: string, other: string): number {
  return distance(one, other) / Math.max(one.length, other.length, 1);
}
