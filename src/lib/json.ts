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

/**
 * Gives an object a property of its own, whatever its name. An assignment to `__proto__` would give the object another
 * prototype instead.
 */
export function setOwn<Value>(object: Record<string, Value>, key: string, value: Value): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

/**
 * An empty object for so many entries. The engine keeps an object as a shape and describes a new shape with each entry,
 * which makes a large one costly; one without a prototype begins as a table, and stays one.
 */
export function objectFor<Value>(entries: number): Record<string, Value> {
  return entries > 50 ? Object.setPrototypeOf({ __proto__: null }, Object.prototype) : {};
}
