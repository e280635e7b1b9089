import { escapeRegExp, unicodeRegExp } from "../text/characters.ts";

// spaCy's rules for English (MIT), with which the tagger was trained.

const LOWER = "a-zß-öø-ÿ";
const UPPER = "A-ZÀ-ÖØ-Þ";
const LETTER = String.raw`[^\W\d_]`;
const QUOTES = "'\"”“`‘´’‚,„»«「」『』（）〔〕【】《》〈〉";
const MARKS = "…,:;!?¿¡()[]{}<>_#*&。？！，、；：～·";
const ICONS = "[™®©°§¶†‡•]";
const CURRENCY = String.raw`\$|£|€|¥|฿|US\$|C\$|A\$|₽|₹|₩|₪|₺|₴|₦|₫|₱|₲|₵|₸|₼|₾|₿`;
const UNITS =
  "km|km²|km³|m|m²|m³|dm|dm²|dm³|cm|cm²|cm³|mm|mm²|mm³|ha|µm|nm|yd|in|ft|kg|g|mg|µg|t|lb|oz|m/s|km/h" +
  "|kmh|mph|hPa|Pa|mbar|mb|MB|kb|KB|gb|GB|tb|TB|T|G|M|K|%";
const escaped = (characters: string): string[] => Array.from(characters, escapeRegExp);
const marks = escaped(MARKS);
const quotes = escaped(QUOTES);
const inClass = marks.join("") + quotes.join("");

const PREFIXES = ["[§%=—–]", String.raw`\+(?![0-9])`, "…", ...marks, String.raw`\.\.+`, ...quotes, CURRENCY, ICONS];
const SUFFIXES = [
  "…",
  ...marks,
  String.raw`\.\.+`,
  ...quotes,
  ICONS,
  "['’][sS]",
  "[—–]",
  String.raw`(?<=[0-9])\+`,
  String.raw`(?<=°[FfCcKk])\.`,
  `(?<=[0-9])(?:${CURRENCY})`,
  `(?<=[0-9])(?:${UNITS})`,
  String.raw`(?<=[0-9${LOWER}%²\-\+${inClass}])\.`,
  String.raw`(?<=[${UPPER}][${UPPER}])\.`,
];
const INFIXES = [
  String.raw`\.\.+`,
  "…",
  ICONS,
  String.raw`(?<=[0-9])[+\-\*\^](?=[0-9\-])`,
  String.raw`(?<=[${LOWER}${quotes.join("")}])\.(?=[${UPPER}${quotes.join("")}])`,
  `(?<=${LETTER}),(?=${LETTER})`,
  String.raw`(?<=[^\W_])(?:-|–|—|--|---|——|~)(?=${LETTER})`,
  String.raw`(?<=[^\W_])[:<>=/](?=${LETTER})`,
];
const PREFIX = unicodeRegExp(`^(?:${PREFIXES.join("|")})`);
const SUFFIX = unicodeRegExp(SUFFIXES.map((suffix) => `(?:${suffix})$`).join("|"));
const INFIX = unicodeRegExp(INFIXES.join("|"), "g");
const ADDRESS = unicodeRegExp(
  String.raw`^(?:(?:https?|ftp)://|www\.)\S+$|^[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+$` +
    String.raw`|^(?:[\w\-]+\.)+(?:com|org|net|edu|gov|io|co|uk|de|fr|info|biz|us|ca|au|tv|me|ly|ai)(?:/\S*)?$`,
  "i",
);

export interface Piece {
  readonly text: string;
  readonly isSpaced: boolean;
  readonly start: number;
}

export class Tokenizer {
  readonly #special: ReadonlyMap<string, readonly string[]>;

  /** @param special words with a special split, such as "can't" and "10am" */
  constructor(special: Readonly<Record<string, readonly string[]>>) {
    this.#special = new Map(Object.entries(special));
  }

  tokenize(text: string): Piece[] {
    const pieces: Piece[] = [];
    for (const { 0: chunk, index } of text.matchAll(/\S+/gu)) {
      const end = index + chunk.length;
      const words = this.#split(chunk);
      let start = index;
      for (const [at, word] of words.entries()) {
        pieces.push({ text: word, isSpaced: at === words.length - 1 && end < text.length, start });
        start += word.length;
      }
    }
    return pieces;
  }

  #split(chunk: string): readonly string[] {
    const special = this.#special.get(chunk);
    if (special) return special;
    const { before, inner, after } = this.#peel(chunk);
    const words = [...before, ...this.#inner(inner), ...after];
    return words.length > 1 ? this.#rejoin(words) : words;
  }

  /** Removes prefixes and suffixes, at most one of each per round. */
  #peel(chunk: string): { readonly before: string[]; readonly inner: string; readonly after: string[] } {
    const before: string[] = [];
    const after: string[] = [];
    let inner = chunk;
    while (inner && !this.#special.has(inner)) {
      const prefix = PREFIX.exec(inner)?.[0] ?? "";
      const withoutPrefix = inner.slice(prefix.length);
      if (prefix && this.#special.has(withoutPrefix))
        return { before: [...before, prefix], inner: withoutPrefix, after };
      const suffix = SUFFIX.exec(withoutPrefix)?.[0] ?? "";
      const withoutSuffix = inner.slice(0, inner.length - suffix.length);
      if (suffix && this.#special.has(withoutSuffix))
        return { before, inner: withoutSuffix, after: [suffix, ...after] };
      if (!prefix && !suffix) break;
      if (prefix) before.push(prefix);
      if (suffix) after.unshift(suffix);
      inner = withoutSuffix.slice(prefix.length);
    }
    return { before, inner, after };
  }

  #inner(text: string): readonly string[] {
    if (!text) return [];
    const special = this.#special.get(text);
    if (special) return special;
    if (ADDRESS.test(text)) return [text];
    const words: string[] = [];
    let start = 0;
    for (const { 0: infix, index } of text.matchAll(INFIX)) {
      if (index === 0) continue;
      if (index > start) words.push(text.slice(start, index));
      words.push(infix);
      start = index + infix.length;
    }
    return start < text.length ? [...words, text.slice(start)] : words;
  }

  /** Joins pieces that together are a special word, such as "Sept" and ".". */
  #rejoin(words: readonly string[]): string[] {
    const joined: string[] = [];
    for (let at = 0; at < words.length;) {
      const count = [3, 2].find((each) => at + each <= words.length && this.#isSpecial(words, at, each)) ?? 1;
      const text = words.slice(at, at + count).join("");
      joined.push(...((count > 1 && this.#special.get(text)) || [text]));
      at += count;
    }
    return joined;
  }

  #isSpecial(words: readonly string[], at: number, count: number): boolean {
    return this.#special.has(words.slice(at, at + count).join(""));
  }
}
