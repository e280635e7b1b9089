import { type Call } from "./call.ts";
import { toModelAnswer, type ModelAnswer, type Outcome } from "../outcome.ts";

/** How a call ended, in the model's words; what ran with other arguments than the model's says so. */
export function toCallAnswer({ timeoutMs, editedInput }: Call, outcome: Outcome, maxBytes: number): ModelAnswer {
  const answer = toModelAnswer(outcome, { timeoutMs, maxBytes });
  if (!editedInput) return answer;
  const note = `The participant changed the arguments to ${JSON.stringify(editedInput)}.`;
  return { ...answer, content: `${note}\n${answer.content}` };
}
