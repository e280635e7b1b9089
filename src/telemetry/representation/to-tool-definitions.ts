import { asText, type JsonObject } from "../../lib/json.ts";

/** A tool that the model is offered and that we or a client run. */
interface OfferedFunction {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

interface Offered {
  readonly tools?: readonly OfferedFunction[];
  /** Anthropic's own, in the API's words. */
  readonly serverTools?: readonly JsonObject[];
}

/** One of `gen_ai.tool.definitions`: `type` is `function`, or the API's own as `web_search_20260318`. */
export interface DefinitionPart {
  readonly type: string;
  readonly name: string;
  readonly description?: string;
  readonly parameters?: JsonObject;
}

/** @param options.isDetailed with description and parameters, which the convention leaves out unless asked for */
export function toToolDefinitions(
  { tools = [], serverTools = [] }: Offered,
  { isDetailed = false }: { readonly isDetailed?: boolean } = {},
): DefinitionPart[] {
  const functions = tools.map(({ name, description, inputSchema }) => ({
    type: "function",
    name,
    ...(isDetailed && { description, parameters: inputSchema }),
  }));
  return [...serverTools.map(({ type, name }) => ({ type: asText(type), name: asText(name) })), ...functions];
}
