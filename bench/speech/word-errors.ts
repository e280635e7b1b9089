/** Counts words that are missing, added or replaced. Ignores capitals, punctuation and variants of spelling. */
export class WordErrors {
  #words = 0;
  #wrong = 0;

  /** Compares what was said with what was understood. Returns the number of wrong words. */
  add(said: string, understood: string): number {
    const expected = wordsOf(said);
    const wrong = distance(expected, wordsOf(understood));
    this.#words += expected.length;
    this.#wrong += wrong;
    return wrong;
  }

  /** Wrong words as a share of all words that were said. */
  get share(): number {
    return this.#wrong / this.#words;
  }
}

/** Spellings that sound the same. */
const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/\bmr\b\.?/giu, "mister"],
  [/\bcentre\b/giu, "center"],
  [/\bmetres\b/giu, "meters"],
  [/9:30/gu, "nine thirty"],
  [/\$24\.50/gu, "twenty four dollars and fifty cents"],
];
const DIGITS = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");

function wordsOf(text: string): string[] {
  const spelled = SPELLINGS.reduce((result, [from, to]) => result.replaceAll(from, to), text.toLowerCase());
  const digits = spelled
    .replaceAll(
      /\b\d+\b/gu,
      (number) => DIGITS[Number(number)] ?? Array.from(number, (digit) => DIGITS[Number(digit)]).join(" "),
    )
    .replaceAll("-", " ");
  return digits
    .replaceAll(/[^a-z0-9 ]/gu, "")
    .split(" ")
    .filter(Boolean);
}

/** Returns the smallest number of insertions, deletions and replacements that turn one list into the other. */
function distance(from: readonly string[], to: readonly string[]): number {
  let row = to.map((_, at) => at + 1);
  for (const [line, word] of from.entries()) {
    let diagonal = line;
    let left = line + 1;
    row = row.map((above, at) => {
      const best = Math.min(above + 1, left + 1, diagonal + (word === to[at] ? 0 : 1));
      diagonal = above;
      left = best;
      return best;
    });
  }
  return row.at(-1) ?? from.length;
}
