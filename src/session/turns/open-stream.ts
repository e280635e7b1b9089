import { type HistoryMessage } from "../../conversation/history.ts";
import { byteLength } from "../../conversation/shown-context.ts";
import { type JsonObject } from "../../lib/json.ts";
import { type ModelRequest, type RequestInput, buildRequest } from "../../llm/build-request.ts";
import { ModelError } from "../../llm/model-error.ts";
import { type ModelEvent } from "../../llm/model-event.ts";
import { type Model } from "../../llm/stream-message.ts";
import { type OfferedTool } from "../../tool/tool-routing.ts";
import { type StepRequest } from "../../turn/run-step.ts";
import { type Others } from "../../turn/token-gauge.ts";

/** The tools that the model may use in a call, and what is told when the API refuses one. */
export interface Offer {
  readonly tools: readonly OfferedTool[];
  readonly onRefusedTool: (tool: OfferedTool, field: string) => void;
}

/** One model call: the step's request with what the session adds. */
export type OpenStream = (
  request: StepRequest & Offer & { readonly participant: string; readonly observe?: ChatObserver },
  signal: AbortSignal,
) => AsyncIterable<ModelEvent>;

/** How many tokens the API counts in such a call; `undefined` when it does not tell. Rejects only when aborted. */
export type CountTokens = (request: StepRequest & Offer, signal: AbortSignal) => Promise<number | undefined>;

type Fixed = Pick<RequestInput, "model" | "maxTokens" | "thinking" | "effort" | "serverTools"> & {
  readonly instructions: string;
};

/** After this many refusals in one model call, all announced tools are left out. */
const MAX_REFUSALS_ONE_BY_ONE = 4;
const MAX_REFUSALS = 8;

/**
 * The session's model with all that is the same in each of its calls. Anthropic's server tools hide tools of the same
 * name. When the API refuses a request because of a tool, it is sent again without that tool.
 */
export function createOpenStream(model: Model, fixed: Fixed): OpenStream {
  return ({ observe, onRefusedTool, tools, ...step }, signal) => {
    const { history } = step;
    const { instructions, serverTools = [] } = fixed;
    const ask: Ask = (offered) => {
      const request = toRequest(fixed, step, offered);
      const stream = model.stream(request, signal);
      return {
        request,
        stream: observe ? observe({ request, history, instructions, tools: offered, serverTools }, stream) : stream,
      };
    };
    return withoutRefused({ tools: visible(fixed, tools), onRefusedTool }, ask);
  };
}

/** Counts what `createOpenStream` would send. */
export function createCountTokens(model: Model, fixed: Fixed): CountTokens {
  return ({ tools, ...step }, signal) => model.countTokens(toRequest(fixed, step, visible(fixed, tools)), signal);
}

function visible({ serverTools = [] }: Fixed, tools: readonly OfferedTool[]): OfferedTool[] {
  const hidden = new Set(serverTools.map((tool) => tool["name"]));
  return tools.filter(({ name }) => !hidden.has(name));
}

function toRequest(
  { instructions, ...fixed }: Fixed,
  { history, toolChoice, containerId }: StepRequest,
  tools: readonly OfferedTool[],
): ModelRequest {
  return buildRequest({
    ...fixed,
    ...(fixed.thinking?.type === "enabled" && needsNoThinking(history) && { thinking: { type: "disabled" } }),
    system: instructions,
    tools,
    messages: history,
    toolChoice: { type: toolChoice },
    ...(containerId !== undefined && { containerId }),
  });
}

const toolBytes = new WeakMap<object, number>();

/** What goes with the history in a model call, as a gauge of its tokens sees it. */
export function othersOf(tools: readonly OfferedTool[], instructionBytes: number): Others {
  const bytes = tools.reduce((sum, { name, description, inputSchema }) => {
    const schema = toolBytes.get(inputSchema) ?? byteLength(JSON.stringify(inputSchema));
    toolBytes.set(inputSchema, schema);
    return sum + schema + byteLength(name) + byteLength(description);
  }, instructionBytes);
  return { key: `${tools.map(({ name }) => name).join()} ${bytes}`, bytes };
}

type Ask = (tools: readonly OfferedTool[]) => {
  readonly request: ModelRequest;
  readonly stream: AsyncIterable<ModelEvent>;
};

/** The API refuses before the first event, so no event comes twice. */
async function* withoutRefused({ tools, onRefusedTool }: Offer, ask: Ask): AsyncGenerator<ModelEvent> {
  let left = tools;
  for (let refusals = 1; ; refusals++) {
    const { request, stream } = ask(left);
    try {
      return yield* stream;
    } catch (error) {
      const { index = -1, field = "" } = (error instanceof ModelError && error.refusedTool) || {};
      const named = request.tools?.[index];
      const refused = left.find(({ name }) => named && "name" in named && named.name === name);
      if (!refused || refusals > MAX_REFUSALS) throw error;
      onRefusedTool(refused, field);
      const isLong = refusals >= MAX_REFUSALS_ONE_BY_ONE;
      left = left.filter((tool) => tool !== refused && !(isLong && tool.owner !== undefined));
    }
  }
}

/** With a thinking budget, the API wants thinking at the start of a message whose tool uses are answered. */
function needsNoThinking(history: readonly HistoryMessage[]): boolean {
  const answers = history.at(-1)?.blocks.some(({ blockType }) => blockType === "tool_result") ?? false;
  const first = history.at(-2)?.blocks[0]?.blockType;
  return answers && first !== "thinking" && first !== "redacted_thinking";
}

/** One model call, as its observer is told of it before it begins. */
export interface ChatCall {
  readonly request: ModelRequest;
  readonly history: readonly HistoryMessage[];
  readonly instructions: string;
  readonly tools: readonly OfferedTool[];
  /** Anthropic's server tools, in the API's form. */
  readonly serverTools: readonly JsonObject[];
}

/** Stands between a model call and its reader. Must pass every event on. */
export type ChatObserver = (call: ChatCall, stream: AsyncIterable<ModelEvent>) => AsyncIterable<ModelEvent>;
