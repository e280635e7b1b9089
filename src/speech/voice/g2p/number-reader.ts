import { isDigits } from "../text/characters.ts";
import { cardinal, decimal, ordinal, year } from "../text/numbers.ts";
import type { Lexicon } from "./lexicon.ts";
import { withEd, withIng, withS } from "./suffixes.ts";

export const CURRENCIES: ReadonlyMap<string, readonly [string, string]> = new Map([
  ["$", ["dollar", "cent"]],
  ["£", ["pound", "pence"]],
  ["€", ["euro", "cent"]],
]);
const ORDINALS = new Set(["st", "nd", "rd", "th"]);
const SUFFIX = /(?:ing|'d|ed|'s|st|nd|rd|th|s)$/;

interface Written {
  readonly number: string;
  readonly currency: string | undefined;
  readonly isHead: boolean;
}

/** Whether a word is a number, possibly with a suffix: "1990s", "3rd", "-5". */
export function isNumber(word: string, isHead: boolean): boolean {
  if (!/[0-9]/.test(word)) return false;
  return (isHead ? /^-?[0-9,.]*$/ : /^[0-9,.]*$/).test(word.replace(SUFFIX, ""));
}

const isAmount = (number: string): boolean => (number.split(".")[1] ?? "").length < 3 && number.split(".").length < 3;
const digitByDigit = (digits: string): string[] => Array.from(digits, cardinal);

/** Reads numbers, looking up their words in the dictionary. */
export class NumberReader {
  readonly #lexicon: Lexicon;

  constructor(lexicon: Lexicon) {
    this.#lexicon = lexicon;
  }

  read({ number: word, currency, isHead }: Written): string | undefined {
    const [suffix = ""] = /[a-z']+$/.exec(word) ?? [];
    const signed = word.slice(0, word.length - suffix.length);
    const isMinus = signed.startsWith("-");
    const number = isMinus ? signed.slice(1) : signed;
    const amount = currency === undefined ? undefined : CURRENCIES.get(currency);
    const isYear = !isMinus && number.length === 4 && !amount && isDigits(number);
    const parts: (string | undefined)[] = isMinus ? [this.#lexicon.lookUp({ text: "minus" })] : [];
    if (isDigits(number) && ORDINALS.has(suffix)) parts.push(...this.#say([ordinal(number)]));
    else if (isYear) parts.push(...this.#say([year(number)]));
    else if (!isHead && !number.includes(".")) parts.push(...this.#readPart(number.replaceAll(",", "")));
    else if (!isHead || number.split(".").length > 2) parts.push(...this.#say(inGroups(number.replaceAll(",", ""))));
    else if (amount && isAmount(number)) parts.push(...this.#readAmount(number.replaceAll(",", ""), amount));
    else parts.push(...this.#say([words(number.replaceAll(",", ""), suffix)]));
    const phonemes = parts.filter((part) => part !== undefined).join(" ");
    if (!phonemes) return undefined;
    if (suffix === "s" || suffix === "'s") return withS(phonemes);
    if (suffix === "ed" || suffix === "'d") return withEd(phonemes);
    return suffix === "ing" ? withIng(phonemes) : phonemes;
  }

  /** Appends the name of a currency to the phonemes. */
  withCurrency(phonemes: string, currency: string | undefined): string {
    const [name] = (currency === undefined ? undefined : CURRENCIES.get(currency)) ?? [];
    const unit = name && this.#lexicon.readPlural({ text: `${name}s` });
    return unit ? `${phonemes} ${unit}` : phonemes;
  }

  #say(numbers: readonly string[]): (string | undefined)[] {
    return numbers
      .flatMap((number) => number.split(/[^a-z]+/))
      .filter((word) => word !== "and" && word !== "")
      .map((text) => this.#lexicon.lookUp({ text, stress: text === "point" ? -2 : undefined }));
  }

  /** Reads digits inside a word, as in "A320": three digits as one plus two, longer numbers digit by digit. */
  #readPart(digits: string): (string | undefined)[] {
    if (digits.startsWith("0") || digits.length > 3) return this.#say(digitByDigit(digits));
    if (digits.length < 3 || digits.endsWith("00")) return this.#say([cardinal(digits)]);
    const [hundreds = "", tens = "", ones = ""] = digits;
    if (tens !== "0") return this.#say([cardinal(hundreds), cardinal(tens + ones)]);
    const oh = this.#lexicon.lookUp({ text: "O", stress: -2 });
    return [...this.#say([cardinal(hundreds)]), oh, ...this.#say([cardinal(ones)])];
  }

  #readAmount(number: string, units: readonly [string, string]): (string | undefined)[] {
    const [whole = "", fraction] = number.split(".");
    const counts = [whole, ...(fraction === undefined ? [] : [fraction])].map(
      (count) => count.replace(/^0+/, "") || "0",
    );
    const amounts = counts.map((count, at) => ({ count, unit: units[at === 0 ? 0 : 1] }));
    const both = amounts.length > 1;
    const spoken =
      both && counts[1] === "0" ? amounts.slice(0, 1) : both && counts[0] === "0" ? amounts.slice(1) : amounts;
    return spoken.flatMap(({ count, unit }, at) => [
      ...(at > 0 ? [this.#lexicon.lookUp({ text: "and" })] : []),
      ...this.#say([cardinal(count)]),
      count === "1" || unit === "pence"
        ? this.#lexicon.lookUp({ text: unit })
        : this.#lexicon.readPlural({ text: `${unit}s` }),
    ]);
  }
}

/** Reads versions and addresses, such as "192.168.1.20". */
function inGroups(number: string): string[] {
  return number.split(".").flatMap((group) => {
    const isSpelled = group.startsWith("0") || (group.length !== 2 && /[^0]/.test(group.slice(1)));
    return isSpelled ? digitByDigit(group) : group ? [cardinal(group)] : [];
  });
}

function words(number: string, suffix: string): string {
  if (isDigits(number)) return ORDINALS.has(suffix) ? ordinal(number) : cardinal(number);
  return number.startsWith(".") ? `point ${digitByDigit(number.slice(1)).join(" ")}` : decimal(number);
}
