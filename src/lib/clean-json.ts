import { findJsonLoss } from "./checks/json-loss.ts";
import { isRecord, type JsonObject, type JsonValue, objectFor, setOwn } from "./json.ts";

/**
 * What arguments, results and schemas may be: an envelope of 32 levels and 50,000 values carries it beside its own fields,
 * wherever in the envelope it is.
 */
export const JSON_LIMITS = { depth: 28, values: 45_000, keyBytes: 256 } as const;
/** What is only bounded, so that no value costs more than this. A message stays below. */
const LAST_RESORT: Limits = { depth: 64, values: 100_000, keyBytes: Infinity };
const MAX_PLACE_LENGTH = 200;
const TOO_LARGE_NUMBER = "too large for a number, write it as a text";
const REPLACEMENT = "\uFFFD";
const textEncoder = new TextEncoder();

interface Limits {
  readonly depth: number;
  readonly values: number;
  readonly keyBytes: number;
}

interface Walk {
  readonly limits: Limits;
  /** Whether a text that has to be replaced is a fault. */
  readonly isExact: boolean;
  readonly parents: object[];
  /** The keys and places that lead to the value, from the root's name. */
  readonly path: (string | number)[];
  values: number;
  fault: JsonFault | undefined;
}

/** NUL and lone surrogates, which PostgreSQL cannot store, become U+FFFD. */
export function cleanText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes("\0") ? wellFormed.replaceAll("\0", REPLACEMENT) : wellFormed;
}

/** Whether PostgreSQL can store the text as it is. For names: cleaning could turn one into another. */
export function isCleanText(text: string): boolean {
  return cleanText(text) === text;
}

/**
 * Makes any value storable as JSONB and sendable, and never throws. Bytes become `{base64}`, dates ISO text, an object with
 * a `toJSON` method what that returns. What JSON cannot express stays visible: `NaN` as its name, a cycle as `[circular]`.
 * So does what is cut because it is deeper than 64 levels or has over 100,000 values. Functions, symbols and `undefined`
 * are dropped, as JSON.stringify does.
 */
export function cleanJson(value: unknown): JsonValue {
  return clean(value, walkOf("", LAST_RESORT)) ?? null;
}

export type ReadJson<Value> = { readonly value: Value } | JsonFault;

/** The first place of a value that JSON cannot carry, and why. */
export interface JsonFault {
  readonly fault: string;
  /** Set when the value is over a limit. */
  readonly isTooLarge?: true;
}

/**
 * The same for a value of which nothing may be lost or cut: what is over `JSON_LIMITS` is a fault, too. Only NUL and lone
 * surrogates become U+FFFD.
 *
 * @param name the value's name in the fault
 */
export function readJson(value: unknown, name: string): ReadJson<JsonValue> {
  return read(value, walkOf(name, JSON_LIMITS));
}

/** The same for a value from the wire, whose limits are those of its packet. */
export function readWireJson(value: unknown): ReadJson<JsonValue> {
  return read(value, walkOf("", LAST_RESORT));
}

/** The same for an object from a JSON text. Also text that would be replaced is a fault. */
export function readExactJson(value: unknown, name: string): ReadJson<JsonObject> {
  if (!isRecord(value)) return { fault: `${name}: expected an object` };
  return read(value, walkOf(name, JSON_LIMITS, true)) as ReadJson<JsonObject>;
}

/**
 * Reads a JSON text of which nothing may change: see `readExactJson`. What `JSON.parse` itself would change is a fault, too.
 *
 * @throws {SyntaxError} for what is no JSON
 */
export function parseExactJson(text: string, name: string): ReadJson<JsonObject> {
  const read = readExactJson(JSON.parse(text), name);
  // Only now: a text that is nested too deep is refused above.
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

/** Notes the first fault. */
function refuse(walk: Walk, why: string): void {
  walk.fault ??= { fault: describeFault(walk.path, why) };
}

function refuseTooLarge(walk: Walk, why: string): void {
  walk.fault ??= { fault: describeFault(walk.path, why), isTooLarge: true };
}

/** Says where and why. Nothing of a value's content is in a fault but its keys. */
export function describeFault(path: readonly (string | number)[], why: string): string {
  const place = path.map((step, index) => (typeof step === "number" ? `[${step}]` : index > 0 ? `.${step}` : step));
  const text = place.join("");
  return `${text.length > MAX_PLACE_LENGTH ? `${text.slice(0, MAX_PLACE_LENGTH).toWellFormed()}…` : text}: ${why}`;
}

/** `undefined` means "drop it". */
function clean(value: unknown, walk: Walk): JsonValue | undefined {
  walk.values++;
  switch (typeof value) {
    case "string":
      return cleanPart(value, walk);
    case "boolean":
      return value;
    case "number":
      if (Number.isFinite(value)) return value + 0;
      refuse(walk, Number.isNaN(value) ? "NaN is no number of JSON" : TOO_LARGE_NUMBER);
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
      refuse(walk, `a ${typeof value} is no value of JSON`);
      return undefined;
  }
}

function cleanPart(text: string, walk: Walk): string {
  const cleaned = cleanText(text);
  if (walk.isExact && cleaned !== text) refuse(walk, "the character U+0000 and half surrogate pairs cannot be stored");
  return cleaned;
}

function cleanContainer(value: object, walk: Walk): JsonValue {
  if (walk.parents.includes(value)) {
    refuse(walk, "it contains itself");
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

/** A promise that nobody waited for, a Response, an iterator: they would all become `{}`. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // Also an object of another realm, whose prototype is not ours.
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
    if (typeof given !== "string" && Object.hasOwn(object, key)) refuse(walk, "the key comes twice");
    setOwn(object, key, cleaned);
  }
  return object;
}

function isFull(walk: Walk): boolean {
  if (walk.values < walk.limits.values) return false;
  refuseTooLarge(walk, `over ${walk.limits.values} values`);
  return true;
}

/** A getter that throws must not hide the other properties. */
function readProperty(object: object, key: string, walk: Walk): unknown {
  try {
    return Reflect.get(object, key);
  } catch {
    return unreadable(walk);
  }
}

function unreadable(walk: Walk): string {
  refuse(walk, "it cannot be read");
  return "[unreadable]";
}

function cleanKey(key: unknown, walk: Walk): string {
  const text = cleanPart(typeof key === "string" ? key : keyOf(key, walk), walk);
  const { keyBytes } = walk.limits;
  if (text.length * 3 > keyBytes && textEncoder.encode(text).length > keyBytes)
    refuseTooLarge(walk, `a key is longer than ${keyBytes} bytes`);
  return text;
}

/** Keys of a Map that are not text: numbers and the like by their text, objects by their kind. */
function keyOf(key: unknown, walk: Walk): string {
  if (typeof key === "number" || typeof key === "bigint" || typeof key === "boolean") return String(key);
  refuse(walk, `a key is no text: ${typeof key}`);
  return typeof key;
}

function cleanDate(date: Date, walk: Walk): string {
  const time = Date.prototype.getTime.call(date);
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  refuse(walk, "no valid date");
  return "Invalid Date";
}

/** Node's Buffer is a hundred times faster than `btoa`; a browser has no Buffer. */
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
