import { capitalize, isAlpha } from "../text/characters.ts";
import type { Dictionary } from "./dictionary.ts";
import { applyStress, PRIMARY, SECONDARY } from "./stress.ts";
import { withEd, withIng, withS } from "./suffixes.ts";
import type { Following } from "./token.ts";

/** A word and the context that its pronunciation depends on. */
export interface Word {
  readonly text: string;
  readonly tag?: string | undefined;
  readonly stress?: number | undefined;
  readonly following?: Following | undefined;
}

const ADDRESS_SYMBOLS = new Map([
  [".", "dot"],
  ["/", "slash"],
]);
const SYMBOLS = new Map([
  ["%", "percent"],
  ["&", "and"],
  ["+", "plus"],
  ["@", "at"],
]);
const DOUBLED = /(?:([bcdgklmnprstvxz])\1|ck)ing$/;

function generalTag(tag: string | undefined): string | undefined {
  if (tag?.startsWith("VB")) return "VERB";
  if (tag?.startsWith("NN")) return "NOUN";
  if (tag?.startsWith("ADV") || tag?.startsWith("RB")) return "ADV";
  return tag?.startsWith("ADJ") || tag?.startsWith("JJ") ? "ADJ" : tag;
}

/** Reads words with misaki's dictionaries and its rules for English (Apache-2.0). */
export class Lexicon {
  readonly #gold: Dictionary;
  readonly #silver: Dictionary;

  /** `gold` was checked by people and takes precedence. */
  constructor(gold: Dictionary, silver: Dictionary) {
    this.#gold = gold;
    this.#silver = silver;
  }

  /** Returns the phonemes, or undefined for a word that is in no dictionary and follows no rule. */
  read(word: Word): string | undefined {
    const special = this.#readSpecial(word);
    if (special !== undefined) return special;
    const text = this.#isShouted(word) ? word.text.toLowerCase() : word.text;
    const known = [text, text.endsWith("s'") && `${text.slice(0, -2)}'s`, text.endsWith("'") && text.slice(0, -1)].find(
      (form) => form !== false && this.#isKnown(form),
    );
    if (known) return this.lookUp({ ...word, text: known });
    return this.#readStem({ ...word, text });
  }

  lookUp({ text, tag, stress, following }: Word): string | undefined {
    const isCapitals = text === text.toUpperCase() && !this.#gold.has(text);
    const word = isCapitals ? text.toLowerCase() : text;
    const isName = isCapitals && tag === "NNP";
    const entry = this.#gold.get(word) ?? (isName ? undefined : this.#silver.get(word));
    const phonemes = typeof entry === "object" ? pick(entry, tag, following) : entry;
    if (phonemes === undefined || (isName && !phonemes.includes(PRIMARY))) {
      const spelled = this.spell(word);
      if (spelled !== undefined) return spelled;
    }
    return phonemes === undefined ? undefined : applyStress(phonemes, stress);
  }

  /** Spells a word out, letter by letter. */
  spell(word: string): string | undefined {
    const letters = Array.from(word)
      .filter(isAlpha)
      .map((letter) => this.#gold.get(letter.toUpperCase()));
    if (!letters.every((letter) => typeof letter === "string")) return undefined;
    const phonemes = applyStress(letters.join(""), 0);
    const last = phonemes.lastIndexOf(SECONDARY);
    return last === -1 ? phonemes : phonemes.slice(0, last) + PRIMARY + phonemes.slice(last + 1);
  }

  /** Reads a plural such as "dollars" by looking up its singular. */
  readPlural({ text, ...rest }: Word): string | undefined {
    if (text.length < 3 || !text.endsWith("s")) return undefined;
    const isLong = text.length > 4;
    const stem = [
      !text.endsWith("ss") && text.slice(0, -1),
      (text.endsWith("'s") || (isLong && text.endsWith("es") && !text.endsWith("ies"))) && text.slice(0, -2),
      isLong && text.endsWith("ies") && `${text.slice(0, -3)}y`,
    ].find((form) => form !== false && this.#isKnown(form));
    return stem ? withS(this.lookUp({ ...rest, text: stem })) : undefined;
  }

  #readPast({ text, ...rest }: Word): string | undefined {
    if (text.length < 4 || !text.endsWith("d")) return undefined;
    const stem = [
      !text.endsWith("dd") && text.slice(0, -1),
      text.length > 4 && text.endsWith("ed") && !text.endsWith("eed") && text.slice(0, -2),
    ].find((form) => form !== false && this.#isKnown(form));
    return stem ? withEd(this.lookUp({ ...rest, text: stem })) : undefined;
  }

  #readIng({ text, ...rest }: Word): string | undefined {
    if (text.length < 5 || !text.endsWith("ing")) return undefined;
    const isLong = text.length > 5;
    const stem = [
      isLong && text.slice(0, -3),
      `${text.slice(0, -3)}e`,
      isLong && DOUBLED.test(text) && text.slice(0, -4),
    ].find((form) => form !== false && this.#isKnown(form));
    return stem ? withIng(this.lookUp({ ...rest, text: stem })) : undefined;
  }

  #readStem(word: Word): string | undefined {
    return this.readPlural(word) ?? this.#readPast(word) ?? this.#readIng({ ...word, stress: word.stress ?? 0.5 });
  }

  #isKnown(word: string): boolean {
    if (this.#gold.has(word) || SYMBOLS.has(word) || this.#silver.has(word)) return true;
    if (!/^[A-Za-z]+$/.test(word)) return false;
    if (word.length === 1 || (word === word.toUpperCase() && this.#gold.has(word.toLowerCase()))) return true;
    return word.slice(1) === word.slice(1).toUpperCase();
  }

  /** Whether a word is in capitals, and only its lowercase form is known. */
  #isShouted(word: Word): boolean {
    const { text, tag } = word;
    const lower = text.toLowerCase();
    if (text.length < 2 || text === lower || !isAlpha(text.replaceAll("'", ""))) return false;
    if (tag === "NNP" && text.length <= 7) return false;
    if (this.#gold.has(text) || this.#silver.has(text)) return false;
    if (text !== text.toUpperCase() && text.slice(1) !== text.slice(1).toLowerCase()) return false;
    return this.#gold.has(lower) || this.#silver.has(lower) || this.#readStem({ ...word, text: lower }) !== undefined;
  }

  #readSpecial({ text, tag, stress, following }: Word): string | undefined {
    const inAddress = tag === "ADD" ? ADDRESS_SYMBOLS.get(text) : undefined;
    if (inAddress) return this.lookUp({ text: inAddress, stress: -0.5, following });
    const symbol = SYMBOLS.get(text);
    if (symbol) return this.lookUp({ text: symbol, following });
    if (isDotted(text)) return this.spell(text);
    if (tag === "IN" && /^vs\.?$/i.test(text)) return this.lookUp({ text: "versus", following });
    if (text === "I") return tag === "PRP" ? `${SECONDARY}I` : undefined;
    return this.#readFunctionWord({ text, tag, stress, following });
  }

  /** Reads short words that sound different before a vowel, at a pause, or as another part of speech. */
  #readFunctionWord({ text, tag, stress, following }: Word): string | undefined {
    const isVowel = following?.isVowel;
    const isCapitals = text === text.toUpperCase() && text.length > 1;
    const lower = text.toLowerCase();
    if (![lower, capitalize(text), lower.toUpperCase()].includes(text)) return undefined;
    switch (lower) {
      case "a":
        return tag === "DT" ? "ɐ" : "ˈA";
      case "am":
        if (tag?.startsWith("NN")) return this.spell(text);
        return isVowel === undefined || text !== "am" || (stress ?? 0) > 0 ? this.#one("am") : "ɐm";
      case "an":
        return isCapitals && tag?.startsWith("NN") ? this.spell(text) : "ɐn";
      case "by":
        return generalTag(tag) === "ADV" ? "bˈI" : undefined;
      case "to":
        if (isCapitals && tag !== "TO" && tag !== "IN") return undefined;
        return isVowel === undefined ? this.#one("to") : isVowel ? "tʊ" : "tə";
      case "in":
        if (isCapitals && tag === "NNP") return undefined;
        return `${isVowel === undefined || tag !== "IN" ? PRIMARY : ""}ɪn`;
      case "the":
        if (isCapitals && tag !== "DT") return undefined;
        return isVowel ? "ði" : "ðə";
      case "used":
        return this.#one("used", (tag === "VBD" || tag === "JJ") && following?.isWordTo ? "VBD" : "DEFAULT");
      default:
        return undefined;
    }
  }

  #one(word: string, tag = "DEFAULT"): string | undefined {
    const entry = this.#gold.get(word);
    return typeof entry === "object" ? (entry[tag] ?? undefined) : entry;
  }
}

/** Whether the text is an abbreviation such as "U.S.A.". */
function isDotted(text: string): boolean {
  const isInside = text.replaceAll(/^\.+|\.+$/g, "").includes(".");
  return isInside && isAlpha(text.replaceAll(".", "")) && text.split(".").every((part) => Array.from(part).length < 3);
}

function pick(
  entry: Readonly<Record<string, string | null>>,
  tag: string | undefined,
  following: Following | undefined,
): string | undefined {
  const atPause = following && following.isVowel === undefined && Object.hasOwn(entry, "None");
  const keys = atPause ? ["None"] : [tag, generalTag(tag), "DEFAULT"];
  const key = keys.find((each) => each !== undefined && Object.hasOwn(entry, each));
  return key === undefined ? undefined : (entry[key] ?? undefined);
}
