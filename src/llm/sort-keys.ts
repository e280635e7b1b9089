import { type JsonObject, type JsonValue } from "../lib/json.ts";

/**
 * The same value with the keys of every object in one order. JSONB stores keys in an order of its own, so a block that
 * was loaded would else be written differently from one that was streamed, and the prompt cache would miss it.
 */
export function sortKeys(value: JsonObject): JsonObject;
export function sortKeys(value: JsonValue): JsonValue;
export function sortKeys(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map((item) => sortKeys(item));
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sortKeys(value[key] ?? null)]));
}

function isList(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}
