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
