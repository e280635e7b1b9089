import { incrementalFlatMap } from "../lib/incremental-flat-map.ts";
import { mediaIn, toolUseId, type TurnBlock } from "./block.ts";
import { contentText, mediaOf, type MediaSource } from "./content.ts";
import { byteLength, isBefore } from "./shown-context.ts";
import type { BlockPlace, InputPart, TurnRecord } from "./turn-record.ts";

type Shown = Pick<TurnRecord, "position" | "input" | "blocks">;

/** Only results and attachments with more UTF-8 bytes than this are shortened. */
export const SHORT_RESULT_BYTES = 1_000;
/** The `sequence` that represents a participant's input, which comes before all blocks of its turn. */
const BEFORE_BLOCKS = -1;

/** Returns the placeholder for a result that is no longer shown. It tells the model how to read the result. */
export function shortenedResult(block: TurnBlock, bytes: number): TurnBlock {
  const size = `${Math.max(1, Math.round(bytes / 1_000))} kB`;
  return withResult(block, `[result of ${size}, read it with recall: ${toolUseId(block) ?? ""}]`);
}

/**
 * Returns the turn with placeholders instead of the large results and attachments before a place. If there are none
 * left to replace, returns the turn itself.
 */
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

/** Returns the places of results and attachments that can be shortened. */
export function largePlaces({ position, input, blocks }: Shown): BlockPlace[] {
  const said = input.some(isLargePart) ? [BEFORE_BLOCKS] : [];
  const done = blocks.filter(isLarge).map(({ sequence }) => sequence);
  return [...said, ...done].map((sequence) => ({ position, sequence }));
}

/** Returns the place after the turn's current last block. */
export function endOf({ position, blocks }: Shown): BlockPlace {
  return { position, sequence: (blocks.at(-1)?.sequence ?? -1) + 1 };
}

/** Returns the place where the results of the turn's last model call begin. */
export function beginOfLastResults({ position, blocks }: Shown): BlockPlace {
  const isResult = ({ blockType }: TurnBlock) => blockType === "tool_result";
  const lastResult = blocks.findLastIndex(isResult);
  const lastUse = blocks.findLastIndex((block, index) => index < lastResult && !isResult(block));
  return { position, sequence: blocks[lastUse + 1]?.sequence ?? 0 };
}

/**
 * The most media that a request shows. With more than 20 images in a request, the API requires each image to be
 * smaller. The API accepts 32 MB per request.
 */
const MAX_MEDIA = { count: 20, bytes: 16_000_000 };

/**
 * Returns the place before which a request no longer shows media, or `undefined` if it can show all media of the turns.
 * The media after that place fill only half of the limit, so that the place does not move with every new picture.
 */
export function placeOfMedia(turns: readonly Shown[]): BlockPlace | undefined {
  const shown = mediaPlaces(turns);
  if (shown.length <= MAX_MEDIA.count && bytesOf(shown) <= MAX_MEDIA.bytes) return undefined;
  let kept = shown.slice(-MAX_MEDIA.count / 2);
  while (kept.length > 1 && bytesOf(kept) > MAX_MEDIA.bytes / 2) kept = kept.slice(1);
  return kept[0]?.place;
}

/** Whether a request shows any pictures or documents of these turns. */
export function showsMedia(turns: readonly Shown[]): boolean {
  return mediaPlaces(turns).length > 0;
}

interface Place {
  readonly size: number;
  readonly place: BlockPlace;
}

const bytesOf = (media: readonly Place[]) => media.reduce((sum, { size }) => sum + size, 0);

/**
 * Returns the place and size of each media item of these turns, cached by turn. A running turn is a new object each
 * time, so the cache never returns outdated media for it.
 */
const mediaPlaces = incrementalFlatMap(({ position, input, blocks }: Shown): readonly Place[] => {
  const at = (sequence: number, media: readonly MediaSource[]) =>
    media.map(({ size }) => ({ size, place: { position, sequence } }));
  const said = input.flatMap((part) => (part.type === "attachment" ? (mediaOf(part.block) ?? []) : []));
  const results = blocks.filter(({ blockType }) => blockType === "tool_result");
  return [...at(BEFORE_BLOCKS, said), ...results.flatMap((block) => at(block.sequence, mediaIn(block)))];
});

/**
 * Replaces a large result with a placeholder. If the result has little text, replaces only its images and documents.
 */
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

/**
 * Whether the block is a large tool result. Any result with images or documents counts as large, however short its text
 * is.
 */
function isLarge(block: TurnBlock): boolean {
  if (block.blockType !== "tool_result") return false;
  const result = block.content?.["content"];
  return mediaIn(block).length > 0 || byteLength(contentText(result)) > SHORT_RESULT_BYTES;
}

function isLargePart(part: InputPart): boolean {
  if (part.type !== "attachment") return false;
  return mediaOf(part.block) !== undefined || byteLength(contentText([part.block])) > SHORT_RESULT_BYTES;
}

/** How many characters of a long, unanswered message are shown in later turns. */
const SHOWN_OF_UNANSWERED = 2_000;

/** Error codes of failed turns whose message the model would reject again. */
const REFUSED: readonly (string | undefined)[] = ["too_large", "invalid_state"];

/**
 * Truncates a long message if its turn failed before the model answered. In full, such a message would push all earlier
 * turns out of the context window. If the model rejected the message, also replaces its large attachments, because they
 * may be the reason.
 */
export function withoutUnanswered(turn: TurnRecord): TurnRecord {
  if (turn.state !== "failed" || turn.blocks.length > 0) return turn;
  const isLong = (part: InputPart) => part.type === "text" && part.text.length > SHOWN_OF_UNANSWERED;
  const isCut = REFUSED.includes(turn.errorCode) ? isLargePart : () => false;
  if (!turn.input.some((part) => isLong(part) || isCut(part))) return turn;
  const input = turn.input.map((part) => {
    if (isCut(part)) return shortPart(part);
    if (part.type !== "text" || !isLong(part)) return part;
    return { ...part, text: `${part.text.slice(0, SHOWN_OF_UNANSWERED)} [The rest of this message is not shown.]` };
  });
  return { ...turn, input };
}
