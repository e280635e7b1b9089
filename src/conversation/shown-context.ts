import type { TurnBlock } from "./block.ts";
import { asBlocks, mediaTokens } from "./content.ts";
import { incrementalFlatMap } from "../lib/incremental-flat-map.ts";
import { shownPart, type BlockPlace, type InputPart, type ToolChange, type TurnRecord } from "./turn-record.ts";

export const START: BlockPlace = { position: 0, sequence: 0 };

export function isBefore(a: BlockPlace, b: BlockPlace): boolean {
  return a.position < b.position || (a.position === b.position && a.sequence < b.sequence);
}

/** Returns a turn's blocks except the thinking blocks before a place. */
export function withoutThinking({ position, blocks }: Pick<TurnRecord, "position" | "blocks">, before: BlockPlace) {
  const isOld = (block: TurnBlock) => isThinking(block) && isBefore({ position, sequence: block.sequence }, before);
  return blocks.some(isOld) ? blocks.filter((block) => !isOld(block)) : blocks;
}

export function isThinking({ blockType }: Pick<TurnBlock, "blockType">): boolean {
  return blockType === "thinking" || blockType === "redacted_thinking";
}

/** Returns the maximum tokens of the images and documents in a tool result. */
function mediaTokensOf(block: TurnBlock): number {
  const shown = asBlocks(block.content?.["content"]) ?? [];
  return shown.reduce((sum, each) => sum + mediaTokens(each), 0);
}

const encoder = new TextEncoder();
const sizes = new WeakMap<object, number>();

/** Bytes that a request adds around each block. */
const FRAME_BYTES = 40;
/**
 * Bytes reserved for what the history adds to a turn: a note about its end, and results for tool uses that have none.
 */
const NOTES_BYTES = 200;

/**
 * Returns a turn's size in a request, in bytes. A tokenizer never produces more tokens than bytes, so the size serves
 * as an upper limit for the turn's tokens until the API has counted them.
 */
export function turnBytes(turn: TurnRecord): number {
  // A running turn grows, so its size is not cached.
  if (turn.state === "running") return sizeOfTurn(turn);
  return remembered(turn, sizeOfTurn);
}

/**
 * Returns the sum of the turns' `turnBytes`. The sum is cached for this list, so none of the turns may still be
 * running.
 */
export function turnsBytes(turns: readonly TurnRecord[]): number {
  return remembered(turns, () => bytesOfEach(turns).reduce((sum, bytes) => sum + bytes, 0));
}

const bytesOfEach = incrementalFlatMap((turn: TurnRecord) => [turnBytes(turn)]);

/** Returns the part of `turnBytes` that is spent on announcing added and removed tools. */
export function announcedBytes({ context }: TurnRecord): number {
  return (context?.tools ?? []).reduce((sum, change) => sum + remembered(change, sizeOfChange), 0);
}

function sizeOfTurn(turn: TurnRecord): number {
  const { input, blocks } = turn;
  const inputBytes = input.reduce((sum, part) => sum + FRAME_BYTES + sizeOfPart(part), NOTES_BYTES);
  return blocks.reduce((sum, block) => sum + remembered(block, sizeOfBlock), inputBytes + announcedBytes(turn));
}

function sizeOfPart(part: InputPart): number {
  return byteLength(shownPart(part)) + (part.type === "attachment" ? mediaTokens(part.block) : 0);
}

/** Returns the maximum size of a tool change in a request, in bytes. Assumes the longest form of each announcement. */
export function sizeOfChange({ added, removed }: Pick<ToolChange, "added" | "removed">): number {
  const names = removed.reduce((sum, name) => sum + 3 * FRAME_BYTES + byteLength(name), 0);
  return added.reduce((sum, tool) => sum + 3 * FRAME_BYTES + byteLength(JSON.stringify(tool)), names);
}

function sizeOfBlock(block: TurnBlock): number {
  const { textContent, content } = block;
  const words = byteLength(textContent ?? "") + (content ? byteLength(JSON.stringify(content)) : 0);
  return FRAME_BYTES + words + mediaTokensOf(block);
}

function remembered<Sized extends object>(thing: Sized, sizeOf: (thing: Sized) => number): number {
  const known = sizes.get(thing);
  if (known !== undefined) return known;
  const size = sizeOf(thing);
  sizes.set(thing, size);
  return size;
}

export function byteLength(text: string): number {
  return encoder.encode(text).length;
}
