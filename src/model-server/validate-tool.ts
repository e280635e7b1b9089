import type { Json } from "./step.ts";

const TOOL_FIELDS = new Set(
  "name description input_schema type cache_control strict defer_loading input_examples allowed_callers eager_input_streaming".split(
    " ",
  ),
);
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

/** Checks a custom tool, from the request's list or from a system message. */
export function* validateTool(tool: Json, path: string): Generator<string> {
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(tool["name"])))
    yield `${path}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'`;
  for (const key of Object.keys(tool))
    if (!TOOL_FIELDS.has(key)) yield `${path}.custom.${key}: Extra inputs are not permitted`;
  const schema = tool["input_schema"] as Json | undefined;
  if (typeof schema !== "object") yield `${path}.custom.input_schema: Field required`;
  else if (schema["type"] !== "object") yield `${path}.custom.input_schema.type: Input should be 'object'`;
  else if (["oneOf", "allOf", "anyOf"].some((word) => word in schema))
    yield `${path}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`;
  else if (hasBadProperty(schema))
    yield `${path}.custom.input_schema.properties: Property keys should match pattern '${PROPERTY_NAME.source}'`;
}

/**
 * Whether a schema declares a property with an invalid name, at any depth. Does not handle a key `properties` inside an
 * `enum` and the like, which tests never use.
 */
function hasBadProperty(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  const { properties } = schema as Json;
  const names = typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
  return names.some((name) => !PROPERTY_NAME.test(name)) || Object.values(schema).some(hasBadProperty);
}
