/** A value that JSON, JSONB and MessagePack can all carry. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [key: string]: JsonValue };

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A string as it is; an empty one for any other value. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** In JavaScript, each gives access to an object's prototype. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/**
 * An empty object for so many entries. The engine keeps an object as a shape and describes a new shape with each entry,
 * which makes a large one costly; one without a prototype begins as a table, and stays one.
 */
export function objectFor<Value>(entries: number): Record<string, Value> {
  return entries > 50 ? Object.setPrototypeOf({ __proto__: null }, Object.prototype) : {};
}
