import { buildHistory, type HistoryMessage } from "../conversation/history.ts";
import { endOf, shortenTurn } from "../conversation/shorten.ts";
import { turnBytes } from "../conversation/shown-context.ts";
import type { ToldTool, TurnRecord } from "../conversation/turn-record.ts";
import type { Others } from "./token-gauge.ts";

/** How much of a talk the model may be shown. */
export interface ContextLimits {
  /** Tokens of past turns. When there are more, older ones are left out before the next turn. */
  readonly budgetTokens: number;
  /** Tokens of a whole request, with instructions, tools and the running turn: never more. */
  readonly hardTokens: number;
  /** Whether the model is told in the talk which tools come and go. @defaultValue false */
  readonly inlineTools?: boolean;
}

/** A model call that is about to be made. */
export interface NextCall {
  /** The running turn by now. */
  readonly turn: TurnRecord;
  readonly isPaused: boolean;
  /** The tools that may be called now and may go. Told in the talk with `inlineTools`. */
  readonly passingTools?: readonly ToldTool[];
  /** What goes with the history, which may depend on whether that is the whole talk. */
  readonly others: (talk: { readonly isCut: boolean }) => Others;
  /** Asks the API how many tokens a request with this history has; `undefined` when it does not tell. */
  readonly count: (history: readonly HistoryMessage[]) => Promise<number | undefined>;
}

/** Whether the running turn would fit with nothing of the talk before it, and with no more of its results than must be. */
export async function fitsAlone(
  { turn, isPaused, count }: NextCall,
  beside: Others,
  { hardTokens, inlineTools: tellsTools = false }: ContextLimits,
): Promise<boolean> {
  const shortest = shortenTurn(turn, endOf(turn));
  // No tokenizer makes more tokens than bytes.
  if (turnBytes(shortest) + beside.bytes <= hardTokens) return true;
  const tokens = await count(buildHistory([shortest], { isPaused, preface: "", tellsTools }));
  return tokens === undefined || tokens <= hardTokens;
}
