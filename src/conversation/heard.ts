import { type TurnBlock } from "./block.ts";

/**
 * The blocks of a turn as the participant got them: text only as far as it was heard. Speech keeps a text's letters but
 * not its blanks, so what counts is how many letters were heard. All other blocks stay.
 */
export function heardBlocks(blocks: readonly TurnBlock[], heard: string): TurnBlock[] {
  let left = countLetters(heard);
  return blocks.map((block) => {
    if (block.blockType !== "text" || block.textContent === null) return block;
    const text = takeLetters(block.textContent, left);
    const isWhole = text === block.textContent;
    left = isWhole ? left - countLetters(text) : 0;
    // Citations belong to a whole text.
    return isWhole ? block : { ...block, textContent: text, content: null };
  });
}

/** How many characters are no blanks. */
export function countLetters(text: string): number {
  return text.replace(/\s/gu, "").length;
}

/** The beginning of a text with so many characters that are no blanks; all of it when it has no more. */
export function takeLetters(text: string, count: number): string {
  const end = endOfLetters(text, count);
  return end === text.length ? text : text.slice(0, end).trimEnd();
}

/** What `takeLetters` leaves. */
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
