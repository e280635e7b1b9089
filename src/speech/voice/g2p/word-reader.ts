import { isAlpha, unicodeRegExp } from "../text/characters.ts";
import type { Lexicon } from "./lexicon.ts";
import { isNumber, type NumberReader } from "./number-reader.ts";
import type { Following, Token } from "./token.ts";
import type { UnknownWords } from "./unknown-words.ts";

const PIECES = unicodeRegExp(String.raw`[^\W\d_]+(?:['’][^\W\d_]+)*|[0-9]+(?:[,.][0-9]+)*|[^\w\s]+`, "g");
const SYMBOLS = new Map(
  Object.entries({
    "/": "slˈæʃ",
    "=": "ˈikwᵊlz",
    "+": "plˈʌs",
    "&": "ænd",
    "@": "æt",
    "%": "pəɹsˈɛnt",
    "#": "hˈæʃ",
    "*": "ˈæstəɹˌɪsk",
    "~": "tˈɪldə",
    "^": "kˈɛɹət",
    "<": "lˈɛs ðən",
    ">": "ɡɹˈATəɹ ðən",
    "—": "—",
  }),
);

/** Returns the ASCII digit for a digit of another script. Unicode orders a script's digits from zero to nine. */
function asAsciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value++;
  return String(value);
}

/** Reads one word: from the dictionary, as a number, or else by guessing from its letters. */
export class WordReader {
  readonly #lexicon: Lexicon;
  readonly #numbers: NumberReader;
  readonly #unknown: UnknownWords;

  constructor(lexicon: Lexicon, numbers: NumberReader, unknown: UnknownWords) {
    this.#lexicon = lexicon;
    this.#numbers = numbers;
    this.#unknown = unknown;
  }

  /** Returns undefined for a word that is neither in a dictionary nor a number. */
  read({ text, alias, tag, currency, isHead }: Token, following: Following): string | undefined {
    const word = (alias ?? text)
      .replaceAll(/[‘’]/g, "'")
      .normalize("NFKC")
      .replaceAll(/(?![0-9])\p{Nd}/gu, asAsciiDigit);
    const capitalStress = word === word.toUpperCase() ? 2 : 0.5;
    const stress = word === word.toLowerCase() ? undefined : capitalStress;
    const known = this.#lexicon.read({ text: word, tag, stress, following });
    if (known !== undefined) return this.#numbers.withCurrency(known, currency);
    return isNumber(word, isHead) ? this.#numbers.read({ number: word, currency, isHead }) : undefined;
  }

  async guess(text: string): Promise<string> {
    const pieces = Array.from(text.matchAll(PIECES), ([piece]) => this.#guessPiece(piece));
    return (await Promise.all(pieces)).filter((piece) => piece).join(" ");
  }

  async #guessPiece(piece: string): Promise<string> {
    if (/^[0-9]/.test(piece)) return this.#numbers.read({ number: piece, currency: undefined, isHead: false }) ?? "";
    if (isAlpha(piece.charAt(0))) return await this.#unknown.read(piece);
    return Array.from(piece, (symbol) => SYMBOLS.get(symbol) ?? "").join("");
  }
}
