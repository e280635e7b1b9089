import type { TurnBlock } from "../conversation/block.ts";

/** A block that does not have a sequence number in its turn yet. */
export type ModelBlock = Omit<TurnBlock, "sequence">;

/** Token counts of one model call. `inputTokens` includes neither of the cache counts. */
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
 * Stop reasons of the Messages API. Unknown ones are passed through unchanged. Two are Parley's own: `budget` (no call
 * was made, because a budget was exceeded) and `hook` (the hook `onAnswer` stopped the answer).
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
  | "hook"
  | (string & {});

/** A piece of a text block. The last two fields are set only if the hook `onAnswer` has checked the text. */
export interface TextDelta {
  readonly type: "text";
  readonly text: string;
  /** What the model wrote, if it was not `text`. */
  readonly original?: string;
  /** Whether a sentence ends here. */
  readonly endsSentence?: true;
}

/** A piece of a block that is being streamed. `other` is a signature, a citation or a delta of an unknown type. */
export type BlockDelta =
  | TextDelta
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "input_json"; readonly partialJson: string }
  | { readonly type: "other" };

/**
 * The events of one model call, in the API's order. `message_stop` is the last event of every complete call. If a
 * stream ends without it, an error is thrown.
 */
export type ModelEvent =
  /** Only with a list of models: this one is called next. */
  | { readonly type: "model_selected"; readonly model: string }
  /** Only with a list of models: the selected one has failed, and the next one continues. */
  | {
      readonly type: "model_failed";
      readonly model: string;
      readonly reason: string;
      /** Token counts of the failed call, if the API had begun to answer it, and no `message_start` reported them. */
      readonly usage?: Usage;
    }
  /** The call failed before its first block and is repeated after the delay. */
  | {
      readonly type: "retry";
      readonly attempt: number;
      readonly delayMs: number;
      readonly reason: string;
      /** Token counts of the failed call, if the API had begun to answer it. */
      readonly usage?: Usage;
    }
  | {
      readonly type: "message_start";
      readonly id: string;
      readonly model: string;
      /** The token counts known at the start. For an aborted call, these are the only ones. */
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
      /**
       * Why the arguments of the tool_use block cannot be used. In this case, `input` is `{_raw: <what the model
       * wrote>}`.
       */
      readonly inputError?: string;
    }
  | {
      readonly type: "message_stop";
      readonly stopReason: StopReason;
      /** The API's `stop_details`, unchanged (a refusal's category and explanation). */
      readonly stopDetails: unknown;
      readonly usage: Usage;
      /** The code execution tool's container. The turn's next request must contain it. */
      readonly containerId?: string;
    };
