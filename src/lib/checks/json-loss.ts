type Step = string | number;

export const TOO_LARGE_NUMBER = "too large for a number, send it as a string";

/** An object or a list that encloses the current position of the scan. */
interface Container {
  /** The keys so far. Absent for a list. */
  readonly keys?: Set<string>;
  /** The key or index of the next value. */
  step: Step;
  isAtKey: boolean;
}

/** Matches integers so short that a double always represents them exactly. Nearly all numbers match. */
const PLAIN_INTEGER = /^-?\d{1,15}$/u;
const NUMBER_PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/u;
/**
 * The longest number that is compared digit by digit. The largest double has fewer digits, so a longer number cannot be
 * represented.
 */
const MAX_NUMBER_LENGTH = 400;
const STARTS = /["{}[\],\d-]/gu;
const NUMBER = /[-+.\deE]+/uy;

/** The first thing in a JSON text that `JSON.parse` would change. */
export interface JsonLoss {
  /** Keys and indexes from the root to the place. */
  readonly path: readonly Step[];
  readonly why: string;
}

/**
 * Finds what `JSON.parse` changes without an error: a repeated key in an object (the last one wins), a number of 2^53
 * or more that would be serialized as a different number, and a tiny number that would become 0. Fractions are rounded,
 * as usual.
 *
 * @param text must be valid JSON; this is not checked
 */
export function findJsonLoss(text: string): JsonLoss | undefined {
  const inside: Container[] = [];
  const lost = (why: string): JsonLoss => ({ path: inside.map(({ step }) => step), why });
  STARTS.lastIndex = 0;
  for (let found = STARTS.exec(text); found; found = STARTS.exec(text)) {
    const current = inside.at(-1);
    switch (found[0]) {
      case "{":
        inside.push({ keys: new Set(), step: "", isAtKey: true });
        break;
      case "[":
        inside.push({ step: 0, isAtKey: false });
        break;
      case "}":
      case "]":
        inside.pop();
        break;
      case ",":
        if (current?.keys) current.isAtKey = true;
        else if (current) current.step = Number(current.step) + 1;
        break;
      case '"': {
        const end = endOfText(text, found.index);
        STARTS.lastIndex = end;
        if (!current?.keys || !current.isAtKey) break;
        const key = JSON.parse(text.slice(found.index, end)) as string;
        current.step = key;
        current.isAtKey = false;
        if (current.keys.has(key)) return lost("the key appears twice");
        current.keys.add(key);
        break;
      }
      default: {
        NUMBER.lastIndex = found.index;
        const [number = ""] = NUMBER.exec(text) ?? [];
        STARTS.lastIndex = found.index + number.length;
        const why = whyNotHeld(number);
        if (why !== undefined) return lost(why);
      }
    }
  }
  return undefined;
}

/** Returns the index where the string that starts at `start` ends. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    if (end === -1) return text.length;
    let backslashes = 0;
    while (text[end - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return end + 1;
  }
}

/** Returns why a number would be serialized differently, or `undefined` if it would stay the same. */
function whyNotHeld(number: string): string | undefined {
  if (PLAIN_INTEGER.test(number)) return undefined;
  const value = Number(number);
  if (value === 0) return /^-?[0.]*[1-9]/u.test(number) ? "too small for a number, send it as a string" : undefined;
  const isHeld = Math.abs(value) <= Number.MAX_SAFE_INTEGER || toDecimal(String(value)) === toDecimal(number);
  return isHeld ? undefined : TOO_LARGE_NUMBER;
}

/** Returns the same text for every notation of a number. */
function toDecimal(number: string): string {
  if (number.length > MAX_NUMBER_LENGTH) return "";
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = NUMBER_PARTS.exec(number) ?? [];
  const digits = whole + fraction;
  const zeros = /0*$/u.exec(digits)?.[0].length ?? 0;
  const power = Number(exponent) - fraction.length + zeros;
  return `${sign}${digits.slice(0, digits.length - zeros).replace(/^0+/u, "")}e${power}`;
}
