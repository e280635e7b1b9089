import type { TurnBlock } from "../conversation/block.ts";
import type { TurnTimings } from "../conversation/turn-timings.ts";
import type { TurnState } from "../conversation/turn-record.ts";
import type { AppError } from "../errors/app-error.ts";
import type { BlockDelta, StopReason, Usage } from "../llm/model-event.ts";

/** How a turn ended. */
export interface TurnEnd {
  readonly state: Exclude<TurnState, "running">;
  /** The stop reason of the last model call, or `step_limit` if the last allowed call did not end the turn. */
  readonly stopReason: StopReason | "step_limit" | undefined;
  /** The sum over all model calls of the turn. */
  readonly usage: Usage;
  /** The model that made the last call, if there is a list of models. */
  readonly model?: string;
  readonly error: AppError | undefined;
}

/** The events of a turn, in order. `turn_start` and `turn_complete` always occur, and blocks never overlap. */
export type TurnEvent =
  | { readonly type: "turn_start"; readonly model: string }
  | {
      readonly type: "block_start";
      readonly sequence: number;
      readonly blockType: TurnBlock["blockType"];
      readonly tool?: { readonly toolUseId: string; readonly toolName: string };
    }
  | {
      readonly type: "block_delta";
      readonly sequence: number;
      readonly delta: BlockDelta | { readonly type: "tool_result"; readonly content: string };
    }
  | { readonly type: "block_stop"; readonly sequence: number; readonly block: TurnBlock }
  | { readonly type: "usage"; readonly step: number; readonly usage: Usage }
  /** The session adds `timings` (the times so far) and `isSpoken` (whether `turn_spoken` follows). */
  | ({ readonly type: "turn_complete"; readonly timings?: TurnTimings; readonly isSpoken?: boolean } & TurnEnd);
