/** How to pronounce words, as the author wrote them: `{ Parley: "par-lee" }`. */
type Pronunciations = Readonly<Record<string, string>>;

interface SpeakableOptions {
  /** A BCP 47 tag. Undefined means English. */
  readonly language: string | undefined;
  readonly pronounce: Pronunciations;
}

type Rule = readonly [pattern: RegExp, replacement: string | ((...groups: string[]) => string)];

/** Matches a number, starting only at its first digit. Trying each digit would take quadratic time for long numbers. */
const NUMBER = String.raw`(?<![\d.,])\d+(?:,\d{3})*(?:\.\d+)?`;
const CURRENCIES: Readonly<Record<string, readonly [unit: string, cents: string]>> = {
  $: ["dollar", "cent"],
  "€": ["euro", "cent"],
  "£": ["pound", "penny"],
};
const MONTHS = "January February March April May June July August September October November December".split(" ");
const OPERATORS: Readonly<Record<string, string>> = {
  "*": "times",
  "×": "times",
  "+": "plus",
  "-": "minus",
  "−": "minus",
  "/": "divided by",
  "÷": "divided by",
  "=": "equals",
  "^": "to the power of",
};
const SHORT: Readonly<Record<string, string>> = {
  "e.g.": "for example",
  "i.e.": "that is",
  "etc.": "et cetera",
  "vs.": "versus",
  "approx.": "approximately",
};

/** Applied in this order. Voices read whole numbers, times and common abbreviations correctly by themselves. */
const ENGLISH: readonly Rule[] = [
  [
    /\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+\b/gu,
    (address) => address.replace("@", " at ").replaceAll(".", " dot "),
  ],
  [
    /\bhttps?:\/\/(?:www\.)?([\w.-]+\w)(?::\d+)?([/?#](?:[^\s)\]]*[^\s)\].,;:!?])?)?/giu,
    (_url, host, path = "") => spokenUrl(host, path),
  ],
  [/\bwww\.([\w.-]+\w)([/?#](?:[^\s)\]]*[^\s)\].,;:!?])?)?/giu, (_url, host, path = "") => spokenUrl(host, path)],
  [
    /\b(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])\b/gu,
    (...[, year, month, day]) => {
      return `${MONTHS[Number(month) - 1]} ${Number(day)}, ${year}`;
    },
  ],
  [new RegExp(String.raw`([$€£])(${NUMBER})(?: (thousand|million|billion))?`, "gu"), spokenMoney],
  [new RegExp(String.raw`(${NUMBER}) ?%`, "gu"), "$1 percent"],
  [new RegExp(String.raw`(?<=[\d)]) ([*×+\-−/÷=^]) (?=-?\d|\()`, "gu"), (_operator, sign) => ` ${OPERATORS[sign]} `],
  [/(?<=\d) = /gu, " equals "],
  [/(?<=\d)[–](?=\d)/gu, " to "],
  [/(?<![\w.])~(?=\d)/gu, "about "],
  [/(?<=\d) ?°C\b/gu, " degrees Celsius"],
  [/(?<=\d) ?°F\b/gu, " degrees Fahrenheit"],
  [/(?<=\d) ?km\/h\b/gu, " kilometers per hour"],
  [/(?<!\S)#(?=\d)/gu, "number "],
  [/(?<=\s)&(?=\s)/gu, "and"],
  [/\b(?:e\.g\.|i\.e\.|etc\.|vs\.|approx\.)/giu, (short) => SHORT[short.toLowerCase()] ?? short],
];
/** For languages without rules. */
const OTHERS: readonly Rule[] = [[/\bhttps?:\/\/(?:www\.)?/giu, ""]];

/**
 * Rewrites a text without markup as it is read aloud: addresses, money, dates, formulas and abbreviations in words, and
 * words with the author's pronunciations.
 */
export function toSpeakable(text: string, { language, pronounce }: SpeakableOptions): string {
  const rules = /^en(?:-|$)/iu.test(language ?? "en") ? ENGLISH : OTHERS;
  const spoken = rules.reduce((result, [pattern, replacement]) => {
    return typeof replacement === "string"
      ? result.replace(pattern, replacement)
      : result.replace(pattern, replacement);
  }, text);
  return Object.entries(pronounce).reduce((result, [word, spelling]) => {
    const escaped = word.replace(/[$()*+.?[\\\]^{|}]/gu, String.raw`\$&`);
    const whole = new RegExp(String.raw`(?<![\p{L}\p{N}])${escaped}(?![\p{L}\p{N}])`, "gu");
    return result.replace(whole, () => spelling);
  }, spoken);
}

/** Reads a short path aloud, and omits a long one, which no listener could write down. */
function spokenUrl(host: string, path: string): string {
  const names = host.replaceAll(".", " dot ");
  const isShort = /^(?:\/[a-z-]{1,20}){1,2}\/?$/iu.test(path);
  return isShort ? names + path.replace(/\/$/u, "").replaceAll("/", " slash ").replaceAll("-", " dash ") : names;
}

function spokenMoney(...[, sign = "", amount = "", scale]: (string | undefined)[]): string {
  const [unit = "", cent = ""] = CURRENCIES[sign] ?? [];
  const [whole = "", part] = amount.split(".");
  if (scale !== undefined) return `${amount} ${scale} ${unit}s`;
  const units = `${whole} ${unit}${whole === "1" ? "" : "s"}`;
  if (part?.length !== 2) return part === undefined ? units : `${amount} ${unit}s`;
  const cents = Number(part);
  if (cents === 0) return units;
  const plural = cent === "penny" ? "pence" : `${cent}s`;
  return `${units} and ${cents} ${cents === 1 ? cent : plural}`;
}
