import picomatch from "picomatch";

/** A star that is a word of its own, as in `git *`, stands for any text, slashes included. */
const OWN_WORD = /(?<=^|[\s{,(|])\*{1,2}(?=$|[\s},)|])/gu;
const ANY_TEXT = "\uE000";
const MAX_LENGTH = 10_000;
const REMEMBERED = 1_000;

const compiled = new Map<string, RegExp | undefined>();

/**
 * Whether a glob says a text. In a path, `*` stays in one folder and `**` does not; a star that is a word of its own
 * stands for any text. What cannot be compiled as a glob says itself only.
 */
export function matchPattern(pattern: string, text: string): boolean {
  if (pattern === text) return true;
  if (!compiled.has(pattern)) remember(pattern);
  return compiled.get(pattern)?.test(text) ?? false;
}

function remember(pattern: string): void {
  compiled.set(pattern, compile(pattern));
  const oldest = compiled.keys().next();
  if (compiled.size > REMEMBERED && !oldest.done) compiled.delete(oldest.value);
}

function compile(pattern: string): RegExp | undefined {
  if (pattern === "" || pattern.length > MAX_LENGTH) return undefined;
  try {
    const { source } = picomatch.makeRe(pattern.replaceAll(OWN_WORD, ANY_TEXT), { dot: true, nonegate: true });
    return new RegExp(source.replaceAll(/\\?\uE000/gu, "[^]*"), "s");
  } catch {
    return undefined;
  }
}
