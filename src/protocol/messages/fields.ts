import * as v from "valibot";
import { cleanJson, type JsonFault, cleanText, isCleanText, readWireJson } from "../../lib/clean-json.ts";
import { type JsonValue, isRecord, setOwn } from "../../lib/json.ts";
import { MESSAGE_LIMITS } from "../limits.ts";

/** A string, cleaned so that PostgreSQL can store it. */
export const text = v.pipe(v.string(), v.transform(cleanText));

export const id = v.pipe(
  text,
  v.minLength(1, "Too small: expected string to have >=1 characters"),
  v.maxLength(MESSAGE_LIMITS.idLength, `Too big: expected string to have <=${MESSAGE_LIMITS.idLength} characters`),
);

/** Whether a string is a valid id without cleaning. (`id` cleans the ids in messages.) */
export function isId(candidate: string): boolean {
  return candidate !== "" && candidate.length <= MESSAGE_LIMITS.idLength && isCleanText(candidate);
}

/** A number that is neither NaN nor infinite. */
export const number = v.pipe(
  v.number(),
  v.finite(({ input }) => `Invalid input: expected number, received ${input}`),
);

/** A number that is always written as float32, even if it is an integer. */
export const float32 = v.pipe(number);

const atLeast = <Least extends number>(least: Least, kind = "number") =>
  v.minValue<number, Least, string>(least, `Too small: expected ${kind} to be >=${least}`);
const atMost = <Most extends number>(most: Most, kind = "number") =>
  v.maxValue<number, Most, string>(most, `Too big: expected ${kind} to be <=${most}`);

/** An integer between -2^53 and 2^53, exclusive. On the wire it may be a float or have 64 bits. */
export const integer = v.pipe(
  number,
  v.integer("Invalid input: expected int, received number"),
  atLeast(Number.MIN_SAFE_INTEGER, "int"),
  atMost(Number.MAX_SAFE_INTEGER, "int"),
);

/** An integer of at least 0. */
export const count = v.pipe(integer, atLeast(0));

/** A number from 0 to 1. */
export const fraction = v.pipe(number, atLeast(0), atMost(1));

/** Any JSON value. */
export const jsonValue = v.pipe(v.unknown(), v.transform(cleanJson));

/** A map with any content. Rejects what JSON cannot express, because it would be stored as something else. */
export const jsonMap = v.pipe(
  v.custom<Record<string, unknown>>(
    isPlainMap,
    ({ input }) => `Invalid input: expected record, received ${kindOf(input)}`,
  ),
  v.transform((map) => readWireJson(map) as { readonly value: Record<string, JsonValue> } | JsonFault),
  v.custom(
    (read) => "value" in (read as object),
    ({ input }) => (input as JsonFault).fault,
  ),
  v.transform((read) => (read as { readonly value: Record<string, JsonValue> }).value),
);

export const choice = <const Words extends readonly string[]>(...words: Words) =>
  v.picklist(words, `Invalid option: expected one of ${words.map((word) => `"${word}"`).join("|")}`);

export const matching = (pattern: RegExp) =>
  v.pipe(v.string(), v.regex(pattern, `Invalid string: must match pattern ${pattern}`));

/** Whether a value is a decoded map. Bytes and timestamps are objects, too, but not maps. */
export function isPlainMap(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && Object.getPrototypeOf(value) === Object.prototype;
}

/** Returns a decoded map without nil and `undefined` entries, and with 64-bit integers as numbers. */
export function readFields(map: Record<string, unknown>): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(map)) {
    if (value === null || value === undefined) continue;
    setOwn(fields, key, typeof value === "bigint" ? Number(value) : value);
  }
  return fields;
}

export type MapSchema = v.ObjectSchema<v.ObjectEntries, undefined>;
type Parsed<Output> = { readonly value: Output } | { readonly fault: string };

/**
 * Replaces valibot's own messages, which contain the value. Passed to each call, because `v.setGlobalConfig` would also
 * affect valibot in an SDK user's own code.
 */
const WITHOUT_VALUES: v.Config<v.BaseIssue<unknown>> = {
  abortEarly: true,
  message: ({ expected, input }) => `Invalid input: expected ${expected?.toLowerCase()}, received ${kindOf(input)}`,
};

/** Validates a map. A fault names the first invalid field, but not its value. `root` is the map's name in the fault. */
export function parseMap<Schema extends MapSchema>(
  schema: Schema,
  value: unknown,
  root: string,
): Parsed<v.InferOutput<Schema>> {
  // valibot accepts arrays as objects.
  if (!isRecord(value)) return { fault: `${root}: Invalid input: expected object, received ${kindOf(value)}` };
  const { success, output, issues } = v.safeParse(schema, value, WITHOUT_VALUES);
  return success ? { value: output } : { fault: root + describeIssue(issues[0], schema) };
}

function describeIssue({ type, path, message }: v.BaseIssue<unknown>, { entries }: MapSchema): string {
  const keys = path?.map(({ key }) => key) ?? [];
  const where = keys.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
  // For a missing field, valibot's issue does not say what was expected, but the field's own schema does.
  const missing = type === "object" ? entries[String(keys[0])] : undefined;
  const what = missing && v.safeParse(missing, undefined, WITHOUT_VALUES).issues?.[0].message;
  const text = what ?? message;
  // A fault inside a map starts with its path in that map.
  return `${where}${/^[.[]/u.test(text) ? "" : ": "}${text}`;
}

/** Returns a value's type, for messages that must not contain the value. */
function kindOf(value: unknown): string {
  if (typeof value === "number") return Number.isFinite(value) ? "number" : String(value);
  if (typeof value !== "object") return typeof value;
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Object.getPrototypeOf(value) === Object.prototype ? "object" : value.constructor.name;
}
