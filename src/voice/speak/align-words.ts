/**
 * Returns, for each word of a written text, how many letters of the spoken text have been heard by the end of that
 * word. Words that occur in both texts are matched. The spoken letters between two matches are divided among the
 * written words between them. This handles tables, addresses and sums, whose spoken text has other words.
 */
export function alignWords(written: readonly string[], spoken: readonly string[]): number[] {
  const [from, to] = [written.map(lettersOf), spoken.map(lettersOf)];
  const endOf = ends(to);
  const ending: number[] = [];
  let said = 0;
  for (const [word, other] of [...matches(from, to), [from.length, to.length] as const]) {
    const before = other === 0 ? 0 : (endOf[other - 1] ?? 0);
    const between = from.slice(ending.length, word);
    // Letters that occur only in the spoken text count toward the written word before them.
    if (between.join("") === "" && ending.length > 0) ending[ending.length - 1] = said = before;
    ending.push(...distribute(between, { from: said, to: before }));
    said = endOf[other] ?? before;
    if (word < from.length) ending.push(said);
  }
  return ending;
}

/** Returns the letters and digits of a text. */
export function lettersOf(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, "");
}

/** Returns the number of letters up to the end of each word. */
function ends(words: readonly string[]): number[] {
  let sum = 0;
  return words.map((word) => (sum += word.length));
}

/** Gives each word its share of the letters between two positions. Words without letters take none. */
function distribute(words: readonly string[], { from, to }: { readonly from: number; readonly to: number }): number[] {
  const total = words.reduce((sum, { length }) => sum + length, 0);
  return ends(words).map((end) => (total === 0 ? from : from + ((to - from) * end) / total));
}

/** Returns the longest sequence of words that both lists contain in the same order, as pairs of positions. */
function matches(from: readonly string[], to: readonly string[]): (readonly [number, number])[] {
  const lengths = from.map(() => to.map(() => 0));
  const lengthAt = (word: number, other: number) => lengths[word]?.[other] ?? 0;
  const isSame = (word: number, other: number) => from[word] !== "" && from[word] === to[other];
  for (let word = from.length - 1; word >= 0; word--)
    for (let other = to.length - 1; other >= 0; other--) {
      const row = lengths[word];
      if (row)
        row[other] = isSame(word, other)
          ? lengthAt(word + 1, other + 1) + 1
          : Math.max(lengthAt(word + 1, other), lengthAt(word, other + 1));
    }
  const pairs: (readonly [number, number])[] = [];
  for (let word = 0, other = 0; word < from.length && other < to.length;)
    if (isSame(word, other)) pairs.push([word++, other++]);
    else if (lengthAt(word + 1, other) >= lengthAt(word, other + 1)) word++;
    else other++;
  return pairs;
}
