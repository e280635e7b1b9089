/** What JSON, JSONB and MessagePack maps all carry. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [key: string]: JsonValue };

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A text as it is; anything else is none. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
