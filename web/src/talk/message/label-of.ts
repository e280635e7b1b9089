import type { Words } from "../../shared/words/words.ts";

/** Returns the label of an answer that did not complete, or of a message that is not delivered yet. */
export function labelOf(state: string, { states }: Words["message"]): string | undefined {
  return Object.hasOwn(states, state) ? states[state as keyof typeof states] : undefined;
}
