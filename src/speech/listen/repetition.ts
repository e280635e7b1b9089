/** No word has more tokens, so a longer group is a phrase, which people do repeat. */
const LONGEST_GROUP = 8;
/** People repeat a word or a digit, as in "zero zero zero zero", but seldom this often. */
const TIMES = 5;

/**
 * Returns how many tokens at the end repeat the tokens before them, if a group of tokens occurs five times in a row, or
 * else 0. In noise, the recognizer falls into such loops: "center center center …".
 */
export function repeatedTokens(tokens: readonly number[]): number {
  for (let group = 1; group <= LONGEST_GROUP; group++) {
    const count = group * (TIMES - 1);
    const repeated = tokens.slice(-count);
    if (tokens.length < count + group) return 0;
    if (repeated.every((token, at) => token === tokens.at(at - count - group))) return count;
  }
  return 0;
}
