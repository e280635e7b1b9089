import { flatMapGrowing } from "../lib/flat-map-growing.ts";
import { mediaIn, toolUseId, type TurnBlock } from "./block.ts";
import { contentText, mediaOf, type MediaSource } from "./content.ts";
import { byteLength, isBefore } from "./shown-context.ts";
import type { BlockPlace, InputPart, TurnRecord } from "./turn-record.ts";

type Shown = Pick<TurnRecord, "position" | "input" | "blocks">;

/** A result or an attachment of more than this, in bytes of UTF-8, can be shortened; a smaller one gains nothing by it. */
export const SHORT_RESULT_BYTES = 1_000;
/** What a participant sent stands before all blocks of its turn. */
const BEFORE_BLOCKS = -1;

/** What stands in the place of a result that is no longer shown: where to read it. */
export function shortenedResult(block: TurnBlock, bytes: number): TurnBlock {
  const size = `${Math.max(1, Math.round(bytes / 1_000))} kB`;
  return withResult(block, `[result of ${size}, read it with recall: ${toolUseId(block) ?? ""}]`);
}

/** A turn with placeholders for what is large and stands before a place. Nothing is shortened twice. */
export function shortenTurn<Turn extends Shown>(turn: Turn, before: BlockPlace): Turn {
  const { position, input, blocks } = turn;
  const isOld = (sequence: number) => isBefore({ position, sequence }, before);
  if (!largePlaces(turn).some(({ sequence }) => isOld(sequence))) return turn;
  return {
    ...turn,
    input: isOld(BEFORE_BLOCKS) ? input.map(shortPart) : input,
    blocks: blocks.map((block) => (isLarge(block) && isOld(block.sequence) ? shortBlock(block) : block)),
  };
}

/** Where a turn has something that can be shortened. */
export function largePlaces({ position, input, blocks }: Shown): BlockPlace[] {
  const said = input.some(isLargePart) ? [BEFORE_BLOCKS] : [];
  const done = blocks.filter(isLarge).map(({ sequence }) => sequence);
  return [...said, ...done].map((sequence) => ({ position, sequence }));
}

/** The place behind the last block that a turn has now. */
export function endOf({ position, blocks }: Shown): BlockPlace {
  return { position, sequence: (blocks.at(-1)?.sequence ?? -1) + 1 };
}

/** Where the results of the turn's last model call begin. */
export function beginOfLastResults({ position, blocks }: Shown): BlockPlace {
  const isResult = ({ blockType }: TurnBlock) => blockType === "tool_result";
  const lastResult = blocks.findLastIndex(isResult);
  const lastUse = blocks.findLastIndex((block, index) => index < lastResult && !isResult(block));
  return { position, sequence: blocks[lastUse + 1]?.sequence ?? 0 };
}

/** What one request shows at most: with more pictures the API wants them smaller, and it takes 32 MB in all. */
const MAX_MEDIA = { count: 20, bytes: 16_000_000 };

/**
 * From where on turns may show pictures and documents, when they have more than a request may show: the newest stay, and
 * half of what there is room for, so that it lasts for a while.
 */
export function placeOfMedia(turns: readonly Shown[]): BlockPlace | undefined {
  const shown = mediaPlaces(turns);
  if (shown.length <= MAX_MEDIA.count && bytesOf(shown) <= MAX_MEDIA.bytes) return undefined;
  let kept = shown.slice(-MAX_MEDIA.count / 2);
  while (kept.length > 1 && bytesOf(kept) > MAX_MEDIA.bytes / 2) kept = kept.slice(1);
  return kept[0]?.place;
}

interface Place {
  readonly size: number;
  readonly place: BlockPlace;
}

const bytesOf = (media: readonly Place[]) => media.reduce((sum, { size }) => sum + size, 0);

/** A running turn is a new object at each look, so nothing old is found for it. */
const mediaPlaces = flatMapGrowing(({ position, input, blocks }: Shown): readonly Place[] => {
  const at = (sequence: number, media: readonly MediaSource[]) =>
    media.map(({ size }) => ({ size, place: { position, sequence } }));
  const said = input.flatMap((part) => (part.type === "attachment" ? (mediaOf(part.block) ?? []) : []));
  const results = blocks.filter(({ blockType }) => blockType === "tool_result");
  return [...at(BEFORE_BLOCKS, said), ...results.flatMap((block) => at(block.sequence, mediaIn(block)))];
});

/** A result of few words keeps them, without its pictures. */
function shortBlock(block: TurnBlock): TurnBlock {
  const words = contentText(block.content?.["content"], ", no longer shown");
  const bytes = byteLength(words);
  return bytes > SHORT_RESULT_BYTES ? shortenedResult(block, bytes) : withResult(block, words);
}

function withResult(block: TurnBlock, content: string): TurnBlock {
  return { ...block, content: { ...block.content, content } };
}

function shortPart(part: InputPart): InputPart {
  if (!isLargePart(part) || part.type !== "attachment") return part;
  const { name = "", block } = part;
  const what = mediaOf(block)?.mediaType ?? "text/plain";
  return { type: "note", note: `an attachment, ${what} ${JSON.stringify(name)}, is no longer shown` };
}

/** A result with pictures or documents is large, however few words it has. */
function isLarge(block: TurnBlock): boolean {
  if (block.blockType !== "tool_result") return false;
  const result = block.content?.["content"];
  return mediaIn(block).length > 0 || byteLength(contentText(result)) > SHORT_RESULT_BYTES;
}

function isLargePart(part: InputPart): boolean {
  if (part.type !== "attachment") return false;
  return mediaOf(part.block) !== undefined || byteLength(contentText([part.block])) > SHORT_RESULT_BYTES;
}

/** Of a long message that got no answer, so many characters are shown from then on. */
const SHOWN_OF_UNANSWERED = 2_000;

/**
 * A turn that has ended, without the rest of a long message that the model was never shown: it was refused as too long, and
 * would take the place of all that was said before it.
 */
export function withoutUnanswered(turn: TurnRecord): TurnRecord {
  const isLong = (part: InputPart) => part.type === "text" && part.text.length > SHOWN_OF_UNANSWERED;
  if (turn.state !== "failed" || turn.blocks.length > 0 || !turn.input.some(isLong)) return turn;
  const input = turn.input.map((part) => {
    if (part.type !== "text" || !isLong(part)) return part;
    return { ...part, text: `${part.text.slice(0, SHOWN_OF_UNANSWERED)} [The rest of this message is not shown.]` };
  });
  return { ...turn, input };
}
