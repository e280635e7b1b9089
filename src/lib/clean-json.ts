import { findJsonLoss, TOO_LARGE_NUMBER } from "./checks/json-loss.ts";
import { isRecord, type JsonObject, type JsonValue, objectFor, setOwn } from "./json.ts";

/**
 * Limits of arguments, results and schemas. A value within these limits fits anywhere in an envelope of 32 levels and
 * 50,000 values, next to the envelope's own fields.
 */
export const JSON_LIMITS = { depth: 28, values: 45_000, keyBytes: 256 } as const;
/**
 * Generous limits for values to which `JSON_LIMITS` do not apply. They bound the cost of cleaning a value. The contents
 * of an envelope never reach them.
 */
const LAST_RESORT: Limits = { depth: 64, values: 100_000, keyBytes: Infinity };
const MAX_PLACE_LENGTH = 200;
const REPLACEMENT = "\uFFFD";
const textEncoder = new TextEncoder();

interface Limits {
  readonly depth: number;
  readonly values: number;
  readonly keyBytes: number;
}

interface Walk {
  readonly limits: Limits;
  /** Whether a string with characters that would be replaced is a fault. */
  readonly isExact: boolean;
  readonly parents: object[];
  /** The keys and indexes that lead to the value, starting with the root's name. */
  readonly path: (string | number)[];
  values: number;
  fault: JsonFault | undefined;
}

/** Replaces NUL and lone surrogates, which PostgreSQL cannot store, by U+FFFD. */
export function cleanText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes("\0") ? wellFormed.replaceAll("\0", REPLACEMENT) : wellFormed;
}

/**
 * Whether PostgreSQL can store the text unchanged. Use it for names, because cleaning could turn one name into another.
 */
export function isCleanText(text: string): boolean {
  return cleanText(text) === text;
}

/**
 * Makes any value storable as JSONB and sendable. Never throws. Bytes become `{base64}`, dates become ISO strings, and
 * an object with a `toJSON` method becomes the method's result. Values that JSON cannot express are replaced by a
 * string: `NaN` by its name, a cycle by `[circular]`. Anything deeper than 64 levels or beyond 100,000 values is
 * replaced, too. Drops functions, symbols and `undefined`, like JSON.stringify.
 */
export function cleanJson(value: unknown): JsonValue {
  return clean(value, walkOf("", LAST_RESORT)) ?? null;
}

export type ReadJson<Value> = { readonly value: Value } | JsonFault;

/** The first place in a value that JSON cannot express, and the reason. */
export interface JsonFault {
  readonly fault: string;
  /** Set if the value exceeds a limit. */
  readonly isTooLarge?: true;
}

/**
 * Cleans a value without dropping or cutting any of it. Anything that JSON cannot express or that exceeds `JSON_LIMITS`
 * is a fault. Only NUL and lone surrogates are replaced, by U+FFFD.
 *
 * @param name the value's name in the fault
 */
export function readJson(value: unknown, name: string): ReadJson<JsonValue> {
  return read(value, walkOf(name, JSON_LIMITS));
}

/**
 * Like `readJson`, for a value that arrived in a packet. The packet's own limits apply to it instead of `JSON_LIMITS`.
 */
export function readWireJson(value: unknown): ReadJson<JsonValue> {
  return read(value, walkOf("", LAST_RESORT));
}

/** Like `readJson`, for an object parsed from JSON. A string with characters that would be replaced is a fault, too. */
export function readExactJson(value: unknown, name: string): ReadJson<JsonObject> {
  if (!isRecord(value)) return { fault: `${name}: expected an object` };
  return read(value, walkOf(name, JSON_LIMITS, true)) as ReadJson<JsonObject>;
}

/**
 * Parses JSON that must stay exactly as it was written (see `readExactJson`). Anything that `JSON.parse` would change
 * is also a fault.
 *
 * @throws {SyntaxError} if the text is not JSON
 */
export function parseExactJson(text: string, name: string): ReadJson<JsonObject> {
  const read = readExactJson(JSON.parse(text), name);
  // This check is done last, because `readExactJson` rejects text that is nested too deeply.
  const loss = "fault" in read ? undefined : findJsonLoss(text);
  return loss ? { fault: describeFault([name, ...loss.path], loss.why) } : read;
}

function walkOf(name: string, limits: Limits, isExact = false): Walk {
  return { limits, isExact, parents: [], path: [name], values: 0, fault: undefined };
}

function read(value: unknown, walk: Walk): ReadJson<JsonValue> {
  const cleaned = clean(value, walk) ?? null;
  return walk.fault ?? { value: cleaned };
}

/** Records the fault, unless there is one already. */
function refuse(walk: Walk, why: string): void {
  walk.fault ??= { fault: describeFault(walk.path, why) };
}

function refuseTooLarge(walk: Walk, why: string): void {
  walk.fault ??= { fault: describeFault(walk.path, why), isTooLarge: true };
}

/** Returns the place and the reason. Keys are the only part of the value that is shown. */
export function describeFault(path: readonly (string | number)[], why: string): string {
  const place = path.map((step, index) => (typeof step === "number" ? `[${step}]` : index > 0 ? `.${step}` : step));
  const text = place.join("");
  return `${text.length > MAX_PLACE_LENGTH ? `${text.slice(0, MAX_PLACE_LENGTH).toWellFormed()}…` : text}: ${why}`;
}

/** Cleans a value. Returns `undefined` if the value must be dropped. */
function clean(value: unknown, walk: Walk): JsonValue | undefined {
  walk.values++;
  switch (typeof value) {
    case "string":
      return cleanPart(value, walk);
    case "boolean":
      return value;
    case "number":
      if (Number.isFinite(value)) return value + 0;
      refuse(walk, Number.isNaN(value) ? "NaN cannot be represented in JSON" : TOO_LARGE_NUMBER);
      return String(value);
    case "bigint":
      if (Number.isSafeInteger(Number(value))) return Number(value);
      refuse(walk, TOO_LARGE_NUMBER);
      return String(value);
    case "object":
      return value === null ? null : cleanContainer(value, walk);
    case "undefined":
      return undefined;
    case "function":
    case "symbol":
      refuse(walk, `a ${typeof value} cannot be represented in JSON`);
      return undefined;
  }
}

function cleanPart(text: string, walk: Walk): string {
  const cleaned = cleanText(text);
  if (walk.isExact && cleaned !== text) refuse(walk, "U+0000 and lone surrogates cannot be stored");
  return cleaned;
}

function cleanContainer(value: object, walk: Walk): JsonValue {
  if (walk.parents.includes(value)) {
    refuse(walk, "the value contains itself");
    return "[circular]";
  }
  if (walk.parents.length >= walk.limits.depth) {
    refuseTooLarge(walk, `deeper than ${walk.limits.depth} levels`);
    return "[too deep]";
  }
  walk.parents.push(value);
  const { length } = walk.path;
  try {
    return cleanObject(value, walk);
  } catch {
    return unreadable(walk);
  } finally {
    walk.parents.pop();
    walk.path.length = length;
  }
}

function cleanObject(value: object, walk: Walk): JsonValue {
  if (Array.isArray(value)) return cleanList(value, walk);
  if (value instanceof Set) return cleanList(Set.prototype.values.call(value), walk);
  if (value instanceof Map)
    return cleanEntries([...Map.prototype.keys.call(value)], (key) => Map.prototype.get.call(value, key), walk);
  if (value instanceof Date) return cleanDate(value, walk);
  if (value instanceof ArrayBuffer) return { base64: toBase64(new Uint8Array(value)) };
  if (ArrayBuffer.isView(value)) {
    return { base64: toBase64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)) };
  }
  if (value instanceof URL) return cleanText(String(value.href));
  if (value instanceof Error) return { name: cleanText(String(value.name)), message: cleanText(String(value.message)) };
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON === "function") return clean(Reflect.apply(toJSON, value, []), walk) ?? null;
  const keys = Object.keys(value);
  if (keys.length === 0 && !isPlain(value)) refuse(walk, `a ${value.constructor.name} has no fields`);
  return cleanEntries(keys, (key) => readProperty(value, key, walk), walk);
}

/**
 * Whether the object is a plain object. Other objects without fields of their own, such as an unawaited promise, a
 * Response or an iterator, would silently become `{}`.
 */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // Also true for objects from another realm, whose prototype is not this realm's `Object.prototype`.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function cleanList(items: Iterable<unknown>, walk: Walk): JsonValue {
  const list: JsonValue[] = [];
  const depth = walk.path.length;
  for (const item of items) {
    walk.path[depth] = list.length;
    if (isFull(walk)) {
      list.push("[too many values]");
      break;
    }
    list.push(clean(item, walk) ?? null);
  }
  return list;
}

function cleanEntries<Key>(keys: readonly Key[], property: (key: Key) => unknown, walk: Walk): JsonObject {
  const object = objectFor<JsonValue>(keys.length);
  const depth = walk.path.length;
  for (const given of keys) {
    walk.path.length = depth;
    const key = cleanKey(given, walk);
    walk.path[depth] = key;
    if (isFull(walk)) {
      object["[too many values]"] = true;
      break;
    }
    const cleaned = clean(property(given), walk);
    if (cleaned === undefined) continue;
    if (typeof given !== "string" && Object.hasOwn(object, key)) refuse(walk, "the key appears twice");
    setOwn(object, key, cleaned);
  }
  return object;
}

function isFull(walk: Walk): boolean {
  if (walk.values < walk.limits.values) return false;
  refuseTooLarge(walk, `over ${walk.limits.values} values`);
  return true;
}

/** Reads a property. If a getter throws, the other properties are still read. */
function readProperty(object: object, key: string, walk: Walk): unknown {
  try {
    return Reflect.get(object, key);
  } catch {
    return unreadable(walk);
  }
}

function unreadable(walk: Walk): string {
  refuse(walk, "reading the value failed");
  return "[unreadable]";
}

function cleanKey(key: unknown, walk: Walk): string {
  const text = cleanPart(typeof key === "string" ? key : keyOf(key, walk), walk);
  const { keyBytes } = walk.limits;
  if (text.length * 3 > keyBytes && textEncoder.encode(text).length > keyBytes)
    refuseTooLarge(walk, `a key is longer than ${keyBytes} bytes`);
  return text;
}

/** Returns a text for a Map key that is not a string: numbers and booleans as text, objects by their type. */
function keyOf(key: unknown, walk: Walk): string {
  if (typeof key === "number" || typeof key === "bigint" || typeof key === "boolean") return String(key);
  refuse(walk, `a key is not a string: ${typeof key}`);
  return typeof key;
}

function cleanDate(date: Date, walk: Walk): string {
  const time = Date.prototype.getTime.call(date);
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  refuse(walk, "invalid date");
  return "Invalid Date";
}

/** Node's Buffer, which is a hundred times faster than `btoa`. Absent in browsers. */
const { Buffer: NodeBuffer } = globalThis as {
  Buffer?: { from(bytes: ArrayBufferLike, offset: number, length: number): { toString(encoding: "base64"): string } };
};

function toBase64(bytes: Uint8Array): string {
  if (NodeBuffer) return NodeBuffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  const CHUNK = 8_192;
  let binary = "";
  for (let start = 0; start < bytes.length; start += CHUNK) {
    binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK));
  }
  return btoa(binary);
}
