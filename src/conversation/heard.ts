import type { TurnBlock } from "./block.ts";

/**
 * The blocks of a turn as the participant got them: text only as far as it was heard. Speech keeps the letters of a
 * text but not its white space, so letters are counted. All other blocks stay.
 */
export function heardBlocks(blocks: readonly TurnBlock[], heard: string): TurnBlock[] {
  let left = countLetters(heard);
  return blocks.map((block) => {
    if (block.blockType !== "text" || block.textContent === null) return block;
    const text = takeLetters(block.textContent, left);
    const isWhole = text === block.textContent;
    left = isWhole ? left - countLetters(text) : 0;
    // Citations refer to the whole text.
    return isWhole ? block : { ...block, textContent: text, content: null };
  });
}

/** Counts letters: all UTF-16 units that are not white space. */
export function countLetters(text: string): number {
  return text.replace(/\s/gu, "").length;
}

/** The beginning of a text, with its first `count` letters; the whole text when it has no more. */
export function takeLetters(text: string, count: number): string {
  const end = endOfLetters(text, count);
  return end === text.length ? text : text.slice(0, end).trimEnd();
}

/** The rest of a text, after its first `count` letters. */
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
