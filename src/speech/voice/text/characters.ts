// Python's string tests, which the Python original of this folder uses. They cover all Unicode characters, whereas
// JavaScript's \w, \d and \b cover only ASCII.

const LETTERS = /^\p{L}+$/u;
const DIGITS = /^[0-9]+$/;

export const isAlpha = (text: string): boolean => LETTERS.test(text);

/** ASCII digits only. */
export const isDigits = (text: string): boolean => DIGITS.test(text);

export const isLower = (text: string): boolean => text === text.toLowerCase() && text !== text.toUpperCase();

export const isUpper = (text: string): boolean => text === text.toUpperCase() && text !== text.toLowerCase();

export function capitalize(text: string): string {
  const [first = "", ...rest] = text;
  return first.toUpperCase() + rest.join("").toLowerCase();
}

/** Returns the last characters, counting code points rather than UTF-16 units. */
export const lastCharacters = (text: string, count: number): string => Array.from(text).slice(-count).join("");

const CLASSES: Readonly<Record<string, string>> = {
  "[^\\W\\d_]": "[\\p{L}\\p{Nl}\\p{No}]",
  "[^\\W_]": "[\\p{L}\\p{N}]",
  "\\w": "\\p{L}\\p{N}_",
  "\\b": "(?:(?<=[\\p{L}\\p{N}_])(?![\\p{L}\\p{N}_])|(?<![\\p{L}\\p{N}_])(?=[\\p{L}\\p{N}_]))",
};

/** Builds a RegExp in which `\w` (inside a class only), `\b`, `[^\W\d_]` and `[^\W_]` have their Python meaning. */
export function unicodeRegExp(source: string, flags = ""): RegExp {
  const translated = source.replaceAll(/\[\^\\W(?:\\d)?_\]|\\[wb]/g, (part) => CLASSES[part] ?? part);
  return new RegExp(translated, `u${flags}`);
}

export const escapeRegExp = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

/** Returns a pattern that matches any of the words. Longer words come first, so that "Sept" is not read as "Sep". */
export const anyOf = (words: readonly string[]): string =>
  words
    .toSorted((a, b) => b.length - a.length)
    .map(escapeRegExp)
    .join("|");
