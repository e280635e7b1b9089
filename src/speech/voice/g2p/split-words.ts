import { isAlpha, unicodeRegExp } from "../text/characters.ts";
import { CURRENCIES } from "./number-reader.ts";
import type { Token } from "./token.ts";

export const MARKS: ReadonlySet<string> = new Set(';:,.!?—…"“”');

const PARTS = unicodeRegExp(
  [
    "^['‘’]+",
    "[A-ZÀ-ÖØ-Þ](?=[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ])",
    String.raw`(?:^-)?(?:\p{Nd}?[,.]?\p{Nd})+`,
    String.raw`[\-_]+`,
    "['‘’]{2,}",
    String.raw`[^\W\d_]*?(?:['‘’][^\W\d_])*?[a-zß-öø-ÿ](?=[A-ZÀ-ÖØ-Þ])`,
    String.raw`[^\W\d_]+(?:['‘’][^\W\d_])*`,
    String.raw`[^\w\-'‘’]`,
    "['‘’]+$",
  ].join("|"),
  "g",
);
const MARK_TAGS = new Set([".", ",", "-LRB-", "-RRB-", "``", '""', "''", ":", "$", "#", "NFP"]);
const MARK_OF_TAG = new Map([
  ["-LRB-", "("],
  ["-RRB-", ")"],
  ["``", "“"],
  ['""', "”"],
  ["''", "”"],
]);

function partsOf(token: Token): Token[] {
  if (token.phonemes !== undefined) return [token];
  const parts = [...token.text.matchAll(PARTS)].map(({ 0: text, index }) => ({
    ...token,
    text,
    isSpaced: false,
    start: token.start + index,
  }));
  const last = parts.at(-1);
  if (!last) return [token];
  last.isSpaced = token.isSpaced;
  return parts;
}

/** Returns the phonemes for punctuation, which depend on its tag, not on the dictionary. */
function readMark({ text, tag }: Token): string | undefined {
  if (tag === "$" && CURRENCIES.has(text)) return "";
  if (tag === ":" && (text === "-" || text === "–")) return "—";
  if (!MARK_TAGS.has(tag) || /^[a-z]*$/i.test(text)) return undefined;
  return (
    MARK_OF_TAG.get(tag) ??
    Array.from(text)
      .filter((letter) => MARKS.has(letter))
      .join("")
  );
}

/** Whether the part is a 2 between letters, as in "B2B". */
function isDigitForTo(parts: readonly Token[], at: number): boolean {
  const [before, after] = [parts[at - 1], parts[at + 1]];
  if (parts[at]?.text !== "2" || !before || !after) return false;
  return isAlpha(`${before.text.at(-1)}${after.text.at(0)}`);
}

/**
 * Splits tokens at capitals, digits and hyphens. Returns words, each as a list of parts, and assigns currencies to
 * numbers.
 */
export function splitWords(tokens: readonly Token[]): Token[][] {
  const words: Token[][] = [];
  let isOpen = false;
  let currency: string | undefined;
  for (const [index, token] of tokens.entries()) {
    const parts = partsOf(token);
    for (const [at, part] of parts.entries()) {
      const isLast = at === parts.length - 1 && tokens[index + 1]?.tag !== "CD";
      if (part.phonemes === undefined) {
        part.phonemes = readMark(part);
        if (part.tag === "$" && CURRENCIES.has(part.text)) currency = part.text;
        else if (part.phonemes !== undefined) part.isHead = true;
        else if (currency !== undefined && part.tag !== "CD") currency = undefined;
        else if (currency !== undefined) part.currency = isLast ? currency : undefined;
        else if (isDigitForTo(parts, at)) part.alias = "to";
      }
      const isDone = part.phonemes !== undefined || part.alias !== undefined;
      const word = words.at(-1);
      if (!isDone && isOpen && word && !word.at(-1)?.isSpaced) {
        part.isHead = false;
        word.push(part);
      } else {
        words.push([part]);
        isOpen = !isDone && !part.isSpaced;
      }
    }
  }
  return words;
}
