import type { TurnBlock } from "../conversation/block.ts";

/** A block before the turn has given it its place. */
export type ModelBlock = Omit<TurnBlock, "sequence">;

/** Tokens of one model call, as the API counts them; `inputTokens` excludes both cache numbers. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

export function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cacheReadTokens: one.cacheReadTokens + other.cacheReadTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
  };
}

/**
 * Stop reasons of the Messages API; one that a newer API invents comes through as its own text. `budget` is ours: no
 * call was made, because a budget is used up.
 */
export type StopReason =
  | "end_turn"
  | "max_tokens"
  | "stop_sequence"
  | "tool_use"
  | "pause_turn"
  | "refusal"
  | "model_context_window_exceeded"
  | "budget"
  | (string & {});

/** One piece of a block that streams. `other` is a signature, a citation or a delta of an unknown type. */
export type BlockDelta =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "input_json"; readonly partialJson: string }
  | { readonly type: "other" };

/**
 * One model call as it streams, in the API's order. `message_stop` is the last event of every complete call: a stream
 * that ends before it throws.
 */
export type ModelEvent =
  /** The call failed before its first block, and is made again after the delay. */
  | {
      readonly type: "retry";
      readonly attempt: number;
      readonly delayMs: number;
      readonly reason: string;
      /** The numbers of the failed call, where the API had begun to answer it. */
      readonly usage?: Usage;
    }
  | {
      readonly type: "message_start";
      readonly id: string;
      readonly model: string;
      /** The numbers known at the start. An aborted call has no others. */
      readonly usage: Usage;
    }
  | {
      readonly type: "block_start";
      readonly index: number;
      readonly blockType: TurnBlock["blockType"];
      /** Set for tool_use and server_tool_use. */
      readonly tool?: { readonly toolUseId: string; readonly toolName: string };
    }
  | { readonly type: "block_delta"; readonly index: number; readonly delta: BlockDelta }
  | {
      readonly type: "block_stop";
      readonly index: number;
      readonly block: ModelBlock;
      /** Why the tool_use block's arguments cannot be used: then `input` is `{_raw: <what the model wrote>}`. */
      readonly inputError?: string;
    }
  | {
      readonly type: "message_stop";
      readonly stopReason: StopReason;
      /** The API's `stop_details`, verbatim (a refusal's category and explanation). */
      readonly stopDetails: unknown;
      readonly usage: Usage;
      /** The code execution tool's container; the next request of the same turn names it again. */
      readonly containerId?: string;
    };
