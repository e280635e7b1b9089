/** A value that JSON, JSONB and MessagePack can all represent. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [key: string]: JsonValue };

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns a string unchanged, or `""` for any other value. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Sets an own property, whatever its name. Assigning to `__proto__` would change the object's prototype instead. */
export function setOwn<Value>(object: Record<string, Value>, key: string, value: Value): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

/**
 * Returns an empty object for the given number of entries. Engines create a new hidden class for each entry, which is
 * slow for large objects. An object created without a prototype starts in dictionary mode and stays in it.
 */
export function objectFor<Value>(entries: number): Record<string, Value> {
  return entries > 50 ? Object.setPrototypeOf({ __proto__: null }, Object.prototype) : {};
}
