import { toolUseId, type TurnBlock } from "./block.ts";
import { shownPart, type BlockPlace, type ToolChange, type TurnRecord } from "./turn-record.ts";

export const START: BlockPlace = { position: 0, sequence: 0 };

/** A result of more than this, in bytes of UTF-8, can be shortened; a smaller one gains nothing by it. */
export const SHORT_RESULT_BYTES = 1_000;

export function isBefore(a: BlockPlace, b: BlockPlace): boolean {
  return a.position < b.position || (a.position === b.position && a.sequence < b.sequence);
}

/** What stands in the place of a result that is no longer shown: where to read it. */
export function shortenedResult(block: TurnBlock, bytes: number): TurnBlock {
  const size = `${Math.max(1, Math.round(bytes / 1_000))} kB`;
  const content = `[result of ${size}, read it with recall: ${toolUseId(block) ?? ""}]`;
  return { ...block, content: { ...block.content, content } };
}

/** A turn's blocks, with placeholders for the large results that stand before a place. Nothing is shortened twice. */
export function shortenResults({ position, blocks }: Pick<TurnRecord, "position" | "blocks">, before: BlockPlace) {
  const isOld = (block: TurnBlock) => isShortenable(block) && isBefore({ position, sequence: block.sequence }, before);
  if (!blocks.some(isOld)) return blocks;
  return blocks.map((block) => (isOld(block) ? shortenedResult(block, resultBytes(block)) : block));
}

/** A turn's blocks without the thinking that stands before a place. */
export function withoutThinking({ position, blocks }: Pick<TurnRecord, "position" | "blocks">, before: BlockPlace) {
  const isOld = (block: TurnBlock) => isThinking(block) && isBefore({ position, sequence: block.sequence }, before);
  return blocks.some(isOld) ? blocks.filter((block) => !isOld(block)) : blocks;
}

export function isThinking({ blockType }: TurnBlock): boolean {
  return blockType === "thinking" || blockType === "redacted_thinking";
}

export function isShortenable(block: TurnBlock): boolean {
  return block.blockType === "tool_result" && resultBytes(block) > SHORT_RESULT_BYTES;
}

function resultBytes({ content }: TurnBlock): number {
  const text = content?.["content"];
  return typeof text === "string" ? byteLength(text) : 0;
}

const encoder = new TextEncoder();
const sizes = new WeakMap<object, number>();

/** What stands around a block in a request. */
const FRAME_BYTES = 40;
/** Room for what the history adds to a turn: a note about its end, results that are missing. */
const NOTES_BYTES = 200;

/**
 * The size of a turn in a request, in bytes. No tokenizer makes more tokens than bytes: this is how much the turn can
 * cost at most, before the API has counted it.
 */
export function turnBytes(turn: TurnRecord): number {
  // A running turn grows.
  if (turn.state === "running") return sizeOfTurn(turn);
  return remembered(turn, sizeOfTurn);
}

function sizeOfTurn({ input, blocks, context }: TurnRecord): number {
  const said = input.reduce((sum, part) => sum + FRAME_BYTES + byteLength(shownPart(part)), NOTES_BYTES);
  const told = (context?.tools ?? []).reduce((sum, change) => sum + remembered(change, sizeOfChange), said);
  return blocks.reduce((sum, block) => sum + remembered(block, sizeOfBlock), told);
}

/** Each tool may be told in the form that is longest. */
function sizeOfChange({ added, removed }: ToolChange): number {
  const names = removed.reduce((sum, name) => sum + 3 * FRAME_BYTES + byteLength(name), 0);
  return added.reduce((sum, tool) => sum + 3 * FRAME_BYTES + byteLength(JSON.stringify(tool)), names);
}

function sizeOfBlock({ textContent, content }: TurnBlock): number {
  return FRAME_BYTES + byteLength(textContent ?? "") + (content ? byteLength(JSON.stringify(content)) : 0);
}

function remembered<Sized extends object>(thing: Sized, sizeOf: (thing: Sized) => number): number {
  const size = sizes.get(thing) ?? sizeOf(thing);
  sizes.set(thing, size);
  return size;
}

export function byteLength(text: string): number {
  return encoder.encode(text).length;
}
