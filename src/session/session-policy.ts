import type { StateDetail } from "../conversation/call.ts";
import type { PermissionPolicy } from "./permission/permission-desk.ts";
import type { Budget, Prices } from "./spending/budget.ts";
import type { ContextLimits } from "../turn/next-call.ts";
import type { PhraseTable } from "./answer/phrases.ts";

/** A session's settings, from the config. */
export interface SessionPolicy {
  readonly model: string;
  readonly maxSteps: number;
  readonly toolTimeoutMs: number;
  readonly toolResultMaxBytes: number;
  readonly onNewMessage: "queue" | "interrupt";
  readonly permission: PermissionPolicy;
  /** @defaultValue no limit */
  readonly budget?: Budget;
  /** @defaultValue none: only tokens are counted */
  readonly prices?: Prices;
  /** How much of the talk the model is shown. */
  readonly context: ContextLimits & {
    /** The size of the instructions and of Anthropic's own tools, which are in every request. */
    readonly instructionBytes: number;
  };
  /** Whether the model is asked before it is certain that a participant has finished. @defaultValue false */
  readonly speculates?: boolean;
  /** Phrases that replace the worker's own, by language. */
  readonly phrases?: PhraseTable;
  /** How much of a tool's calls may be shown, by the tool's name. It wins over the tool's own `stateDetail`. */
  readonly toolDetail?: Readonly<Record<string, StateDetail>>;
}
