import { cleanJson } from "../../lib/clean-json.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../lib/json.ts";
import { compileAnnouncedSchema, type InputSchema } from "../input-schema.ts";

/** Compiling costs about 10 ms for each 1,000 characters of a hostile one. */
const MAX_SCHEMA_LENGTH = 32_768;
/** The Messages API refuses a request, with all its tools, for a property that it does not like the name of. */
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
/** It also refuses these at the root. */
const NOT_AT_ROOT = new Set(["oneOf", "anyOf", "allOf", "$schema", "$id"]);
/** They say what another schema or a URL has, or change how a check runs. */
const NOT_SHOWN = new Set(["$schema", "$id", "$async", "$dynamicRef"]);

/**
 * A server's schema: the model sees nearly all of it, but our own check keeps to keywords that are cheap to check. What
 * we do not check (patterns, references), the server does.
 *
 * @throws {TypeError} saying why the schema cannot be used
 */
export function compileMcpSchema(schema: unknown): InputSchema {
  const clean = cleanJson(schema) as JsonObject;
  const { length } = JSON.stringify(clean);
  if (length > MAX_SCHEMA_LENGTH) throw new TypeError(`its schema is longer than ${MAX_SCHEMA_LENGTH} characters`);
  const { parse } = compileAnnouncedSchema(clean);
  const properties = isRecord(clean["properties"]) ? Object.keys(clean["properties"]) : [];
  const bad = properties.find((name) => !PROPERTY_NAME.test(name));
  if (bad !== undefined)
    throw new TypeError(`its parameter ${JSON.stringify(bad)} does not match ${PROPERTY_NAME.source}`);
  const root = Object.entries(clean).filter(([key]) => !NOT_AT_ROOT.has(key));
  return { jsonSchema: shown(Object.fromEntries(root), clean) as JsonObject, parse };
}

/** Without what a model has no use for, and without what would make the API refuse the schema. */
function shown(value: JsonValue, root: JsonObject): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((item) => shown(item, root));
  if (!isRecord(value)) return value;
  const kept = Object.entries(value as JsonObject).filter(([key, inner]) => isShown(key, inner, root));
  return Object.fromEntries(
    kept.map(([key, inner]) => [key, key === "enum" || key === "const" ? inner : shown(inner, root)]),
  );
}

function isShown(key: string, value: JsonValue, root: JsonObject): boolean {
  // A property may have any name: what is no text is not one of these keywords.
  if (typeof value !== "string" && typeof value !== "boolean") return true;
  if (NOT_SHOWN.has(key)) return false;
  if (key === "$ref") return typeof value === "string" && isInside(value, root);
  if (key === "pattern") return typeof value === "string" && isRegExp(value);
  return true;
}

/** Whether a reference leads to a place in the schema itself. */
function isInside(ref: string, root: JsonObject): boolean {
  if (ref !== "#" && !ref.startsWith("#/")) return false;
  let place: unknown = root;
  for (const step of ref.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isRecord(place) || !Object.hasOwn(place, key)) return false;
    place = place[key];
  }
  return isRecord(place);
}

/** Compiling an expression is quick, whatever it would cost to run it. */
function isRegExp(pattern: string): boolean {
  try {
    return new RegExp(pattern, "u") instanceof RegExp;
  } catch {
    return false;
  }
}
