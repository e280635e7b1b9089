import { isRecord, type JsonObject } from "../lib/json.ts";
import { asBlocks, mediaOf, type ContentBlock, type MediaSource } from "./content.ts";

/** The block types that Parley handles. A type that a newer API has added is stored under its own name. */
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
 * One row of `turn_blocks`, without its turn. `textContent` holds the text of `text` and `thinking` blocks. `content`
 * holds the block's other fields:
 *
 * - text: `null`, or `{citations}`
 * - thinking: `{signature}`, redacted_thinking: `{data}`; if the agent has a list of models, with `model`, which wrote it
 * - tool_use, server_tool_use: `{tool_use_id, tool_name, input, …}`
 * - tool_result: `{tool_use_id, content, is_error}`, where `content` is a string or a list of `ContentBlock`s
 * - server_tool_result: `{tool_use_id, type, content, …}`
 * - any other type: the block as the API sent it
 */
export interface TurnBlock {
  /** Position in the turn: starts at 0 and increases across all steps. */
  readonly sequence: number;
  readonly blockType: BlockType | (string & {});
  readonly textContent: string | null;
  readonly content: JsonObject | null;
  /** What the model wrote, if the hook `onAnswer` changed the text. Not loaded with the history. */
  readonly original?: string;
}

/**
 * Whether the block is a summary that the API wrote to replace everything before the block. False if the API could not
 * write one.
 */
export function isCompaction({ blockType, content }: Pick<TurnBlock, "blockType" | "content">): boolean {
  return blockType === "compaction" && typeof content?.["content"] === "string";
}

/** Returns the assistant's text, one string per text block. */
export function textsOf(blocks: readonly TurnBlock[]): string[] {
  return blocks.flatMap(({ blockType, textContent }) => (blockType === "text" ? (textContent ?? "") : []));
}

/** Returns the id that a tool use and its result share. For a block of an unknown type, returns the API's own `id`. */
export function toolUseId(block: Pick<TurnBlock, "content">): string | undefined {
  const id = block.content?.["tool_use_id"] ?? block.content?.["id"];
  return typeof id === "string" && id !== "" ? id : undefined;
}

/**
 * Returns the references to media in a block: its own if it is an image or document, those in its content if it is a
 * tool result.
 */
export function mediaIn({ blockType, content }: Pick<TurnBlock, "blockType" | "content">): MediaSource[] {
  if (content === null) return [];
  const shown = blockType === "tool_result" ? (asBlocks(content["content"]) ?? []) : [content];
  return shown.flatMap((block) => mediaOf(block) ?? []);
}

/** Returns a tool's answer in its stored form. Blocks stored by version 0.1 have `is_error` only if it is true. */
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

/** Returns the tool uses that have no result among `blocks`. */
export function danglingUses(blocks: readonly TurnBlock[]): TurnBlock[] {
  const idsOfType = (type: BlockType) => blocks.filter((block) => block.blockType === type).map(toolUseId);
  const answered = new Set(idsOfType("tool_result"));
  return blocks.filter((block) => block.blockType === "tool_use" && !answered.has(toolUseId(block)));
}

/**
 * The tool name that the worker uses to add a promised outcome to the history, as a tool use with its result. No tool
 * has this name, so nothing is run.
 */
export const OUTCOME_TOOL = "call_outcome";

/**
 * The tool name that the worker uses to add a participant's memories to the history, as a tool use with its result.
 * Only the model sees this tool use, because other participants must not see the memories.
 */
export const MEMORY_TOOL = "remembered";

/** Returns the id of the tool use whose outcome a `call_outcome` block reports, or `undefined` for other blocks. */
export function outcomeSubject({ blockType, content }: Omit<TurnBlock, "sequence">): string | undefined {
  if (blockType !== "tool_use" || content?.["tool_name"] !== OUTCOME_TOOL || !isRecord(content["input"]))
    return undefined;
  const id = content["input"]["tool_use_id"];
  return typeof id === "string" ? id : undefined;
}
