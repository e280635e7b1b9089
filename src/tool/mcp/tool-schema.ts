import { cleanJson } from "../../lib/clean-json.ts";
import { type JsonObject } from "../../lib/json.ts";
import { compileForeignSchema, type InputSchema } from "../input-schema.ts";
import { NOT_AT_ROOT, toModelSchema } from "../model-schema.ts";

const MAX_SCHEMA_LENGTH = 32_768;

/**
 * A server's schema: the model sees nearly all of it, but our own check keeps to keywords that are cheap to check. What
 * we do not check (patterns, references), the server does. Nobody who reads our log can change a server's schema, so
 * what the API does not take at its root is checked, and not shown.
 *
 * @throws {TypeError} saying why the schema cannot be used
 */
export function compileMcpSchema(schema: unknown): InputSchema {
  const clean = cleanJson(schema) as JsonObject;
  const { length } = JSON.stringify(clean);
  if (length > MAX_SCHEMA_LENGTH) throw new TypeError(`its schema is longer than ${MAX_SCHEMA_LENGTH} characters`);
  const atRoot = new Set<string>(NOT_AT_ROOT);
  const shown = Object.fromEntries(Object.entries(clean).filter(([key]) => !atRoot.has(key)));
  return compileForeignSchema(clean, toModelSchema(shown));
}
