import { type AnsweredTurn } from "../answer/catch-up.ts";
import { type LateOutcomes } from "./late-outcomes.ts";
import { withOutcomes, withOutcomesOf } from "./outcome-turn.ts";
import { type TurnInput } from "./turn-queue.ts";
import { pastOf } from "./variation.ts";

/**
 * What a turn begins with and what it goes on from. A turn that replaces another goes on from what was before that one.
 * A participant's turn also begins with the outcomes that the model was promised and that have come in the meantime.
 */
export function prepareTurn(
  input: TurnInput,
  all: readonly AnsweredTurn[],
  outcomes: Pick<LateOutcomes, "take">,
): { readonly begin: TurnInput; readonly past: readonly AnsweredTurn[] } {
  if ("turn" in input || input.messageId === null) return { begin: input, past: all };
  const past = pastOf(input, all);
  const carried = withOutcomesOf(input, { replaced: all.slice(past.length), kept: past });
  return { begin: withOutcomes(carried, outcomes.take(input.participant)), past };
}
