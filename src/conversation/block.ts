import { type JsonObject } from "../lib/json.ts";

/** Block types of spec/003 and the server-tool pair. Types that a newer API invents are stored under their own name. */
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
 * One row of `turn_blocks` (spec/003), without its turn. `text` and `thinking` carry `textContent`; what else belongs
 * to the block is in `content`:
 *
 * - text: `null`, or `{citations}` · thinking: `{signature}` · redacted_thinking: `{data}`
 * - tool_use, server_tool_use: `{tool_use_id, tool_name, input, …}`
 * - tool_result: `{tool_use_id, content, is_error?}` · server_tool_result: `{tool_use_id, type, content, …}`
 * - any other type: the block as the API sent it
 */
export interface TurnBlock {
  /** Position in the turn, from 0, dense, through all its steps. */
  readonly sequence: number;
  readonly blockType: BlockType | (string & {});
  readonly textContent: string | null;
  readonly content: JsonObject | null;
}
