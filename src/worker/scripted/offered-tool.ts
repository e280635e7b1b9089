import { isRecord } from "../../lib/json.ts";

/** A tool that the request offers, with the names of its parameters. */
export interface ScriptedTool {
  readonly name: string;
  readonly parameters: readonly string[];
}

export function toOfferedTool(name: string, schema: unknown): ScriptedTool {
  const properties = isRecord(schema) && isRecord(schema["properties"]) ? Object.keys(schema["properties"]) : [];
  return { name, parameters: properties };
}

/** Gives each value to the first parameter whose name its pattern fits; a tool that names none gets none. */
export function valueFor(
  tool: ScriptedTool,
  values: readonly (readonly [RegExp, string])[],
): Readonly<Record<string, unknown>> {
  const input: Record<string, unknown> = {};
  for (const [pattern, value] of values) {
    const name = tool.parameters.find((parameter) => pattern.test(parameter) && !(parameter in input));
    if (name !== undefined) input[name] = value;
  }
  return input;
}
