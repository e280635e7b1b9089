// English words for numbers, in the style of the package num2words. Numbers are strings of digits of any length.

// prettier-ignore
const ONES = [
  "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
  "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
];
const TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
// prettier-ignore
const SCALES = [
  "", "thousand", "million", "billion", "trillion", "quadrillion", "quintillion", "sextillion", "septillion",
  "octillion", "nonillion", "decillion",
];
const IRREGULAR_ORDINALS = new Map([
  ["one", "first"],
  ["two", "second"],
  ["three", "third"],
  ["five", "fifth"],
  ["eight", "eighth"],
  ["nine", "ninth"],
  ["twelve", "twelfth"],
]);

const digitsInWords = (digits: string): string => Array.from(digits, (digit) => ONES[Number(digit)]).join(" ");

function belowThousand(number: number): string {
  const rest = number % 100;
  const words = number >= 100 ? [ONES[Math.floor(number / 100)], "hundred"] : [];
  if (number > 100 && rest > 0) words.push("and");
  if (rest >= 20) words.push(TENS[Math.floor(rest / 10)] + (rest % 10 ? `-${ONES[rest % 10]}` : ""));
  else if (rest > 0 || number === 0) words.push(ONES[rest]);
  return words.join(" ");
}

/**
 * Returns a number in words: "one thousand, two hundred and thirty-four". Numbers without a name (from 10^36) are read
 * digit by digit.
 */
export function cardinal(digits: string): string {
  const significant = digits.replace(/^0+(?=\d)/, "");
  if (significant.length > SCALES.length * 3) return digitsInWords(significant);
  const groups: string[] = [];
  for (let scale = 0, end = significant.length; end > 0; scale++, end -= 3) {
    const group = Number(significant.slice(Math.max(0, end - 3), end));
    if (group > 0 || significant.length <= 3) groups.unshift(`${belowThousand(group)} ${SCALES[scale]}`.trim());
  }
  const last = groups.at(-1) ?? "";
  const isShort = !(last.split(" and ").at(-1) ?? "").includes(" ") && !last.includes("hundred");
  return groups.length > 1 && isShort ? `${groups.slice(0, -1).join(", ")} and ${last}` : groups.join(", ");
}

function ordinalWord(word: string): string {
  return IRREGULAR_ORDINALS.get(word) ?? (word.endsWith("y") ? `${word.slice(0, -1)}ieth` : `${word}th`);
}

/** Returns an ordinal number in words: "twenty-third", "one hundred and first". */
export const ordinal = (digits: string): string => cardinal(digits).replace(/[^ -]+$/, ordinalWord);

/** Returns a year in words: "nineteen oh-five", "two thousand and five", "twenty ten". */
export function year(digits: string): string {
  const [high, low] = [Math.floor(Number(digits) / 100), Number(digits) % 100];
  if (high === 0 || (high % 10 === 0 && low < 10) || high >= 100) return cardinal(digits);
  const lowWords = low === 0 ? "hundred" : `${low < 10 ? "oh-" : ""}${cardinal(String(low))}`;
  return `${cardinal(String(high))} ${lowWords}`;
}

/** Returns a decimal number in words: "three point one four". Trailing zeros are not read. */
export function decimal(text: string): string {
  const [whole = "", fraction = ""] = text.split(".");
  const digits = fraction.replace(/0+$/, "");
  return cardinal(whole || "0") + (digits ? ` point ${digitsInWords(digits)}` : "");
}
