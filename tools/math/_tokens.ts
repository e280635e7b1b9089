/** One lexical piece of an expression; `at` is its 1-based position, for error messages. */
export type Token =
  | { readonly type: "number"; readonly value: number; readonly at: number }
  | { readonly type: "name"; readonly text: string; readonly at: number }
  | { readonly type: "symbol"; readonly text: string; readonly at: number }
  | { readonly type: "end"; readonly at: number };

const MAX_LENGTH = 1_000;
const MAX_DIGITS = 100;

const SPACE = /[ \t\r\n]+/y;
const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*|π/y;
const SYMBOL = /\*\*|[-+*/%^(),×÷−]/y;
const SAME_SYMBOL = new Map([
  ["×", "*"],
  ["÷", "/"],
  ["−", "-"],
  ["**", "^"],
]);

/**
 * Splits an expression into tokens. @throws {Error} that names the first character that cannot be part of an expression
 */
export function tokenize(expression: string): readonly Token[] {
  if (expression.length > MAX_LENGTH) throw new Error(`The expression is longer than ${MAX_LENGTH} characters`);
  const tokens: Token[] = [];
  let index = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = index;
    const text = pattern.exec(expression)?.[0];
    index += text?.length ?? 0;
    return text;
  };
  while (true) {
    match(SPACE);
    const at = index + 1;
    if (index >= expression.length) return [...tokens, { type: "end", at }];
    const number = match(NUMBER);
    const name = number === undefined ? match(NAME) : undefined;
    const symbol = number ?? name ?? match(SYMBOL);
    if (symbol === undefined) throw new Error(`Unexpected ${shown(expression, index)} at position ${at}`);
    if (number !== undefined) tokens.push({ type: "number", value: toNumber(number), at });
    else if (name !== undefined) tokens.push({ type: "name", text: name === "π" ? "pi" : name.toLowerCase(), at });
    else tokens.push({ type: "symbol", text: SAME_SYMBOL.get(symbol) ?? symbol, at });
  }
}

function toNumber(text: string): number {
  if (text.length > MAX_DIGITS) throw new Error(`A number has more than ${MAX_DIGITS} digits`);
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Error(`The number ${text} is too large`);
  return value;
}

/** Shows an invisible character as its code point, because the message may be read aloud or printed. */
function shown(expression: string, index: number): string {
  const codePoint = expression.codePointAt(index) ?? 0;
  const character = String.fromCodePoint(codePoint);
  if (/^[\p{L}\p{N}\p{P}\p{S}]$/u.test(character)) return `"${character}"`;
  return `character U+${codePoint.toString(16).toUpperCase().padStart(4, "0")}`;
}
