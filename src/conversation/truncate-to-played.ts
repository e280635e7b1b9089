import type { TurnBlock } from "./block.ts";

/**
 * Returns a turn's blocks with the text truncated to what the participant heard. Other blocks are unchanged. Counts
 * letters, because speech preserves a text's letters but not its white space.
 */
export function truncateToPlayed(blocks: readonly TurnBlock[], heard: string): TurnBlock[] {
  let left = countLetters(heard);
  return blocks.map((block) => {
    if (block.blockType !== "text" || block.textContent === null) return block;
    const text = takeLetters(block.textContent, left);
    const isWhole = text === block.textContent;
    left = isWhole ? left - countLetters(text) : 0;
    // Citations refer to the whole text, so a truncated text loses them.
    return isWhole ? block : { ...block, textContent: text, content: null };
  });
}

/** Counts letters: all UTF-16 units except white space. */
export function countLetters(text: string): number {
  return text.replace(/\s/gu, "").length;
}

/**
 * Returns the text up to and including its first `count` letters, or the whole text if it has no more letters than
 * that.
 */
export function takeLetters(text: string, count: number): string {
  const end = endOfLetters(text, count);
  return end === text.length ? text : text.slice(0, end).trimEnd();
}

/** Returns the text after its first `count` letters. */
export function dropLetters(text: string, count: number): string {
  return text.slice(endOfLetters(text, count));
}

function endOfLetters(text: string, count: number): number {
  let left = count;
  let end = 0;
  for (const character of text) {
    if (character.trim() !== "") left -= character.length;
    if (left < 0) return end;
    end += character.length;
  }
  return text.length;
}
