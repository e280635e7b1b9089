import { asText, type JsonObject } from "../../lib/json.ts";

/** A tool that is offered to the model and run by the server or a client. */
interface OfferedFunction {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

interface Offered {
  readonly tools?: readonly OfferedFunction[];
  /** Anthropic's own tools, in the API's format. */
  readonly serverTools?: readonly JsonObject[];
}

/** An entry of `gen_ai.tool.definitions`. `type` is `function` or the API's own type, such as `web_search_20260318`. */
export interface DefinitionPart {
  readonly type: string;
  readonly name: string;
  readonly description?: string;
  readonly parameters?: JsonObject;
}

/** @param options.isDetailed adds description and parameters, which the convention omits by default */
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
