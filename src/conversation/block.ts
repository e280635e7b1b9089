import { isRecord, type JsonObject } from "../lib/json.ts";
import { asBlocks, mediaOf, type ContentBlock, type MediaSource } from "./content.ts";

/** The block types that this code knows. A type that a newer API adds is stored under its own name. */
export const BLOCK_TYPES = [
  "text",
  "thinking",
  "redacted_thinking",
  "tool_use",
  "tool_result",
  "server_tool_use",
  "server_tool_result",
] as const;
export type BlockType = (typeof BLOCK_TYPES)[number];

/**
 * One row of `turn_blocks`, without its turn. `text` and `thinking` carry `textContent`; what else belongs
 * to the block is in `content`:
 *
 * - text: `null`, or `{citations}` · thinking: `{signature}` · redacted_thinking: `{data}`
 * - tool_use, server_tool_use: `{tool_use_id, tool_name, input, …}`
 * - tool_result: `{tool_use_id, content, is_error}`, with a text or a list of `ContentBlock`s · server_tool_result: `{tool_use_id, type, content, …}`
 * - any other type: the block as the API sent it
 */
export interface TurnBlock {
  /** Position in the turn: from 0, ascending through all its steps. */
  readonly sequence: number;
  readonly blockType: BlockType | (string & {});
  readonly textContent: string | null;
  readonly content: JsonObject | null;
}

/** The API's own summary of what stood before it, which is all that the model is shown of that. It may have failed. */
export function isCompaction({ blockType, content }: Pick<TurnBlock, "blockType" | "content">): boolean {
  return blockType === "compaction" && typeof content?.["content"] === "string";
}

/** What the assistant said in these blocks, a text for each of its text blocks. */
export function textsOf(blocks: readonly TurnBlock[]): string[] {
  return blocks.flatMap(({ blockType, textContent }) => (blockType === "text" ? (textContent ?? "") : []));
}

/** The id that a tool use and its result share. In blocks of unknown types it is the API's own `id`. */
export function toolUseId(block: Pick<TurnBlock, "content">): string | undefined {
  const id = block.content?.["tool_use_id"] ?? block.content?.["id"];
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** The media that a block names: a picture or document by itself, a tool result in its content. */
export function mediaIn({ blockType, content }: Pick<TurnBlock, "blockType" | "content">): MediaSource[] {
  if (content === null) return [];
  const shown = blockType === "tool_result" ? (asBlocks(content["content"]) ?? []) : [content];
  return shown.flatMap((block) => mediaOf(block) ?? []);
}

/** A tool's answer as it is stored. Blocks that version 0.1 stored have `is_error` only where it is true. */
export function toolResultBlock(
  id: string,
  answer: { content: string | readonly ContentBlock[]; isError: boolean },
): Omit<TurnBlock, "sequence"> {
  return {
    blockType: "tool_result",
    textContent: null,
    content: { tool_use_id: id, content: answer.content, is_error: answer.isError },
  };
}

/** The tool uses that have no result among `blocks`. */
export function danglingUses(blocks: readonly TurnBlock[]): TurnBlock[] {
  const idsOfType = (type: BlockType) => blocks.filter((block) => block.blockType === type).map(toolUseId);
  const answered = new Set(idsOfType("tool_result"));
  return blocks.filter((block) => block.blockType === "tool_use" && !answered.has(toolUseId(block)));
}

/** The name in the tool use that brings a promised outcome into the history. No tool has this name: it is never run. */
export const OUTCOME_TOOL = "call_outcome";

/** The same for what is remembered of a participant. Only the model is shown it: no other participant may learn of it. */
export const MEMORY_TOOL = "remembered";

/** The id of the tool use whose outcome a `call_outcome` brings. */
export function outcomeSubject({ blockType, content }: Omit<TurnBlock, "sequence">): string | undefined {
  if (blockType !== "tool_use" || content?.["tool_name"] !== OUTCOME_TOOL || !isRecord(content["input"]))
    return undefined;
  const id = content["input"]["tool_use_id"];
  return typeof id === "string" ? id : undefined;
}
