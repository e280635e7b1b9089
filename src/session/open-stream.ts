import { buildRequest } from "../llm/build-request.ts";
import { type ModelEvent } from "../llm/model-event.ts";
import { type Model } from "../llm/stream-message.ts";
import { type OfferedTool } from "../tool/directory.ts";
import { type StepRequest } from "../turn/run-step.ts";

/** One model call: the step's history with what the session adds to it. */
export type OpenStream = (
  request: StepRequest & { readonly tools: readonly OfferedTool[] },
  signal: AbortSignal,
) => AsyncIterable<ModelEvent>;

type Fixed = Pick<Parameters<typeof buildRequest>[0], "model" | "maxTokens" | "thinking" | "effort"> & {
  readonly instructions: string;
};

/** The session's model with everything that is the same in all its calls. */
export function createOpenStream(model: Model, { instructions, ...fixed }: Fixed): OpenStream {
  return ({ history, toolChoice, tools }, signal) =>
    model.stream(
      buildRequest({ ...fixed, system: instructions, tools, messages: history, toolChoice: { type: toolChoice } }),
      signal,
    );
}
