import { type HistoryMessage } from "../conversation/history.ts";
import { buildRequest, type RequestInput } from "../llm/build-request.ts";
import { type ModelEvent } from "../llm/model-event.ts";
import { type Model } from "../llm/stream-message.ts";
import { type OfferedTool } from "../tool/directory.ts";
import { type StepRequest } from "../turn/run-step.ts";
import { type ChatObserver } from "./chat-call.ts";

/** One model call: the step's history with what the session adds to it. */
export type OpenStream = (
  request: StepRequest & { readonly tools: readonly OfferedTool[]; readonly observe?: ChatObserver },
  signal: AbortSignal,
) => AsyncIterable<ModelEvent>;

type Fixed = Pick<RequestInput, "model" | "maxTokens" | "thinking" | "effort" | "serverTools"> & {
  readonly instructions: string;
};

/** The session's model with everything that is the same in all its calls. An Anthropic tool hides ours of its name. */
export function createOpenStream(model: Model, { instructions, ...fixed }: Fixed): OpenStream {
  const hidden = new Set(fixed.serverTools?.map((tool) => tool["name"]));
  return ({ history, toolChoice, tools, containerId, observe }, signal) => {
    const offered = tools.filter(({ name }) => !hidden.has(name));
    const request = buildRequest({
      ...fixed,
      ...(fixed.thinking?.type === "enabled" && needsNoThinking(history) && { thinking: { type: "disabled" } }),
      system: instructions,
      tools: offered,
      messages: history,
      toolChoice: { type: toolChoice },
      ...(containerId !== undefined && { containerId }),
    });
    const stream = model.stream(request, signal);
    const { serverTools = [] } = fixed;
    return observe ? observe({ request, history, instructions, tools: offered, serverTools }, stream) : stream;
  };
}

/** With a thinking budget the API wants thinking first in a message whose tools are answered, or none in that call. */
function needsNoThinking(history: readonly HistoryMessage[]): boolean {
  const answers = history.at(-1)?.blocks.some(({ blockType }) => blockType === "tool_result") ?? false;
  const first = history.at(-2)?.blocks[0]?.blockType;
  return answers && first !== "thinking" && first !== "redacted_thinking";
}
