import type { z } from "zod";
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
  /** @defaultValue no prices: only tokens are counted */
  readonly prices?: Prices;
  /** The schema of the session's state. @defaultValue any JSON object */
  readonly state?: z.ZodType | undefined;
  /** Limits of the context window. */
  readonly context: ContextLimits & {
    /** The size of the instructions and of Anthropic's server tools, which are part of every request. */
    readonly instructionBytes: number;
  };
  /**
   * Whether preemptive generation is on: the model may be called before it is certain that a participant has finished.
   * @defaultValue false
   */
  readonly speculates?: boolean;
  /** Overrides of the worker's built-in phrases, by language. */
  readonly phrases?: PhraseTable;
  /** How much of a tool's calls clients may see, by tool name. Overrides the tool's own `stateDetail`. */
  readonly toolDetail?: Readonly<Record<string, StateDetail>>;
}
