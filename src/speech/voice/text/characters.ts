// Python's tests of strings, which the original of this folder decides by. They hold for every Unicode character,
// where JavaScript's \w, \d and \b know ASCII alone.

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

/** The last characters, each counted once even if UTF-16 needs two units for it. */
export const lastCharacters = (text: string, count: number): string => Array.from(text).slice(-count).join("");

const CLASSES: Readonly<Record<string, string>> = {
  "[^\\W\\d_]": "[\\p{L}\\p{Nl}\\p{No}]",
  "[^\\W_]": "[\\p{L}\\p{N}]",
  "\\w": "\\p{L}\\p{N}_",
  "\\b": "(?:(?<=[\\p{L}\\p{N}_])(?![\\p{L}\\p{N}_])|(?<![\\p{L}\\p{N}_])(?=[\\p{L}\\p{N}_]))",
};

/** Builds a RegExp in which `\w` (inside a class only), `\b`, `[^\W\d_]` and `[^\W_]` mean what they mean in Python. */
export function unicodeRegExp(source: string, flags = ""): RegExp {
  const translated = source.replaceAll(/\[\^\\W(?:\\d)?_\]|\\[wb]/g, (part) => CLASSES[part] ?? part);
  return new RegExp(translated, `u${flags}`);
}

export const escapeRegExp = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

/** Longer words first, so that "Sept" is not read as "Sep". */
export const anyOf = (words: readonly string[]): string =>
  words
    .toSorted((a, b) => b.length - a.length)
    .map(escapeRegExp)
    .join("|");
