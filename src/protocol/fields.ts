import * as z from "zod/mini";
import { cleanJson, cleanText } from "../lib/clean-json.ts";
import { type JsonValue, isRecord } from "../lib/json.ts";
import { LIMITS } from "./limits.ts";

/** Text as PostgreSQL can store it. */
export const text = z.string().check(z.overwrite(cleanText));

export const id = text.check(z.minLength(1), z.maxLength(LIMITS.idLength));

/** A whole number up to 2^53; on the wire also as a float or in 64 bits. */
export const integer = z.int();

/** A count that starts at 1. */
export const sequence = integer.check(z.minimum(1));

/** Any JSON value. */
export const jsonValue = z.custom<JsonValue>().check(z.overwrite((value) => cleanJson(value)));

/** A map with any content. */
export const jsonMap = z.record(z.string(), z.custom<JsonValue>()).check(
  z.overwrite((map) => {
    const cleaned = cleanJson(map);
    return isRecord(cleaned) ? (cleaned as Record<string, JsonValue>) : {};
  }),
);

/** A map as the decoder makes it. Bytes and timestamps are objects too, but values on the wire. */
export function isPlainMap(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && Object.getPrototypeOf(value) === Object.prototype;
}

/** A map from the wire, with nil and `undefined` entries absent and 64-bit integers as numbers. */
export function readFields(map: Record<string, unknown>): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(map)) {
    if (value === null || value === undefined) continue;
    fields[key] = typeof value === "bigint" ? Number(value) : value;
  }
  return fields;
}
