import { buildHistory, type HistoryMessage } from "../conversation/history.ts";
import { endOf, shortenTurn } from "../conversation/shorten.ts";
import { turnBytes } from "../conversation/shown-context.ts";
import type { SummaryText } from "../conversation/summary.ts";
import type { ClientToolDefinition, TurnRecord } from "../conversation/turn-record.ts";
import type { RequestOverhead } from "./token-gauge.ts";

/** Limits of the context window. */
export interface ContextLimits {
  /** The limit for past turns, in tokens. If they exceed it, the oldest ones are dropped before the next turn. */
  readonly budgetTokens: number;
  /** The hard limit for a whole request, in tokens, including instructions, tools and the running turn. */
  readonly hardTokens: number;
  /** Whether messages in the history notify the model of added and removed tools. @defaultValue false */
  readonly inlineTools?: boolean;
}

/** What `makeRoom` needs to know before a turn begins. */
export interface Moment {
  /** A summary of turns that are still in the window. */
  readonly written?: SummaryText | undefined;
  /** Whether a further summary can be expected. If so, the window may exceed its budget for a while (`PATIENCE`). */
  readonly isWriting?: boolean;
  /** Whether the prompt cache has expired by now. */
  readonly isCold?: boolean;
}

/** A model call that is about to be made. */
export interface NextCall {
  /** The running turn so far. */
  readonly turn: TurnRecord;
  readonly isPaused: boolean;
  /** The tools that can be called now and may be removed later. With `inlineTools`, the history announces them. */
  readonly temporaryTools?: readonly ClientToolDefinition[];
  /** What is sent in addition to the history. It may depend on whether the history is complete. */
  readonly overheadFor: (shown: { readonly isCompacted: boolean }) => RequestOverhead;
  /**
   * Asks the API how many tokens a request with this history has. Resolves to `undefined` if the API does not answer.
   */
  readonly count: (history: readonly HistoryMessage[]) => Promise<number | undefined>;
}

/** Whether the running turn would fit without any earlier turns, and with all its large results shortened. */
export async function fitsAlone(
  { turn, isPaused, count }: NextCall,
  overhead: RequestOverhead,
  { hardTokens, inlineTools: announcesTools = false }: ContextLimits,
): Promise<boolean> {
  const shortest = shortenTurn(turn, endOf(turn));
  // No tokenizer produces more tokens than bytes.
  if (turnBytes(shortest) + overhead.bytes <= hardTokens) return true;
  const tokens = await count(buildHistory([shortest], { isPaused, preface: "", announcesTools }));
  return tokens === undefined || tokens <= hardTokens;
}
