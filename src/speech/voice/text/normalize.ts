import { anyOf, escapeRegExp, unicodeRegExp } from "./characters.ts";
import { dateRules } from "./dates.ts";
import { ordinal } from "./numbers.ts";
import type { Rule, TracedText } from "./traced-text.ts";

/** The contents of `normalize.json` in the voice's folder. */
export interface WordTables {
  readonly months: Readonly<Record<string, string>>;
  readonly titles: Readonly<Record<string, string>>;
  readonly abbreviations: Readonly<Record<string, string>>;
  readonly units: Readonly<Record<string, readonly [string, string]>>;
  readonly symbols: Readonly<Record<string, string>>;
  readonly currency: Readonly<Record<string, readonly [string, string]>>;
  readonly roman_cardinal: readonly string[];
  readonly roman_ordinal: readonly string[];
}

const NUMBER = String.raw`[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?`;
const SPACES: Rule = [/\s+/g, " "];
const SCALE = String.raw`hundred|thousand|million|billion|trillion|[kKmMbB]\b`;
const SCALE_LETTERS = new Map([
  ["k", "thousand"],
  ["m", "million"],
  ["b", "billion"],
]);
const FRACTIONS = ["half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
const ROMAN = new Map(Object.entries({ I: 1, V: 5, X: 10, L: 50, C: 100, D: 500, M: 1000 }));
const ROMAN_NUMERAL = "((?=[IVXLC])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))";

const inNumber = (number: string, [one, many]: readonly [string, string]): string =>
  ["1", "1.0", "-1"].includes(number.replaceAll(",", "")) ? one : many;
const scaleWord = (scale: string): string => SCALE_LETTERS.get(scale.toLowerCase()) ?? scale;

function romanValue(numeral: string): number {
  const values = Array.from(numeral, (letter) => ROMAN.get(letter) ?? 0);
  return values.reduce((total, value, at) => total + ((values[at + 1] ?? 0) > value ? -value : value), 0);
}

function fractionWords(upper: number, lower: number): string | undefined {
  const unit = FRACTIONS[lower - 2];
  if (!(upper > 0 && upper < lower) || unit === undefined) return undefined;
  if (unit === "half") return "one half";
  return `${upper} ${unit}${upper === 1 ? "" : "s"}`;
}

function symbolRules(symbols: WordTables["symbols"]): Rule[] {
  return Object.entries(symbols).map(([symbol, word]) => {
    const escaped = escapeRegExp(symbol);
    const pattern = "=<>~".includes(symbol) ? String.raw`(?<=\S) ?${escaped} ?(?=\S)` : escaped;
    return [unicodeRegExp(pattern, "g"), word ? ` ${word} ` : " "];
  });
}

function amountRules({ units, currency }: WordTables): { readonly money: Rule[]; readonly measures: Rule[] } {
  const wordsOf = (symbol: string): readonly [string, string] => currency[symbol] ?? ["", ""];
  return {
    money: [
      [
        unicodeRegExp(String.raw`([$£€])(${NUMBER})\s?(${SCALE})`, "g"),
        ([, symbol = "", number = "", scale = ""]) => `${number} ${scaleWord(scale)} ${wordsOf(symbol)[1]}`,
      ],
      [
        unicodeRegExp(String.raw`(?<![\w.])(${NUMBER})\s?¢`, "g"),
        ([, number = ""]) => `${number} ${inNumber(number, wordsOf("¢"))}`,
      ],
      [
        unicodeRegExp(String.raw`(?<![\w])([¥₹₩]|Rs\.?|USD|EUR|GBP)\s?(${NUMBER})(?:\s?(${SCALE}))?`, "g"),
        ([, symbol = "", number = "", scale]) => {
          const words = wordsOf(symbol.replace(/\.$/, ""));
          return scale ? `${number} ${scaleWord(scale)} ${words[1]}` : `${number} ${inNumber(number, words)}`;
        },
      ],
    ],
    measures: [
      [
        unicodeRegExp(String.raw`(?<![\w.])(-?${NUMBER})\s?°\s?([CF])?(?![\w])`, "g"),
        ([, number = "", letter]) => {
          const scale = letter === "C" ? " Celsius" : " Fahrenheit";
          return `${number} ${inNumber(number, ["degree", "degrees"])}${letter ? scale : ""}`;
        },
      ],
      [
        unicodeRegExp(String.raw`(?<![\w.])(-?${NUMBER})\s?(${anyOf(Object.keys(units))})(?![\w])`, "g"),
        ([, number = "", unit = ""]) => `${number} ${inNumber(number, units[unit] ?? ["", ""])}`,
      ],
    ],
  };
}

function wordRules({ titles, abbreviations }: WordTables): Rule[] {
  return [
    [
      unicodeRegExp(String.raw`\b(${anyOf(Object.keys(titles))})\.? (?=[A-Z])`, "g"),
      ([, title = ""]) => `${titles[title]} `,
    ],
    [
      unicodeRegExp(String.raw`(?<![\w.])(${anyOf(Object.keys(abbreviations))})(?![\w])`, "g"),
      ({ 1: short = "", index, input }) =>
        `${abbreviations[short]}${short.endsWith(".") && index + short.length === input.length ? "." : ""}`,
    ],
    [unicodeRegExp(String.raw`\b(No|Nos)\. ?(?=[0-9])`, "g"), ([, short]) => (short === "No" ? "Number " : "Numbers ")],
    [unicodeRegExp(String.raw`(?<![\w&])#(?=[0-9])`, "g"), "number "],
  ];
}

function romanRules(tables: WordTables): Rule[] {
  const pattern = (words: readonly string[]) =>
    unicodeRegExp(String.raw`\b(${anyOf(words)}) ${ROMAN_NUMERAL}\b(?![.'’][\w])`, "g");
  return [
    [pattern(tables.roman_cardinal), ([, word = "", numeral = ""]) => `${word} ${romanValue(numeral)}`],
    [
      pattern(tables.roman_ordinal),
      ([, word = "", numeral = ""]) => `${word} the ${ordinal(String(romanValue(numeral)))}`,
    ],
  ];
}

/**
 * Returns a function that writes out what the dictionary's rules cannot read: times, dates, units, abbreviations, other
 * currencies, symbols. Plain numbers and amounts in $, £ and € are left to the dictionary.
 */
export function createNormalizer(tables: WordTables): (text: TracedText) => void {
  const { times, dates, namedDates, monthAndDay } = dateRules(tables.months);
  const { money, measures } = amountRules(tables);
  const rules: Rule[] = [
    [/\u00A0/g, " "],
    [/’/g, "'"],
    [/‒/g, "-"],
    [/―/g, "—"],
    ...times,
    ...dates,
    ...money,
    ...measures,
    ...namedDates,
    ...wordRules(tables),
    ...romanRules(tables),
    [
      unicodeRegExp(String.raw`(?<![\w.\-])(?:[0-9]{3}-)?[0-9]{3}-[0-9]{4}(?![\w.\-])`, "g"),
      ([phone]) => Array.from(phone.replaceAll("-", ", ")).join(" "),
    ],
    [
      unicodeRegExp(String.raw`(?<![\w./])([0-9]{1,2})/([0-9]{1,2})(?![\w./])`, "g"),
      ([, upper = "", lower = ""]) => {
        const [first, second] = [Number(upper), Number(lower)];
        return fractionWords(first, second) ?? monthAndDay(first, second) ?? `${first} slash ${second}`;
      },
    ],
    [
      unicodeRegExp(String.raw`(?<![\w.\-])([0-9]{1,4})\s?[-–]\s?([0-9]{1,4})(?![\w.\-%])`, "g"),
      ([, a, b]) => `${a} to ${b}`,
    ],
    [unicodeRegExp(String.raw`(?<![\w+])\+(?=[0-9])`, "g"), "plus "],
    ...symbolRules(tables.symbols),
    SPACES,
    [/ +([,.;:!?])/g, ([, mark = ""]) => mark],
  ];
  return (text) => {
    text.replace(SPACES);
    text.trim();
    for (const rule of rules) text.replace(rule);
    text.trim();
  };
}
