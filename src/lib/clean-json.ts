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
const REPLACEMENT = "\uFFFD";
const textEncoder = new TextEncoder();

interface Limits {
  readonly depth: number;
  readonly values: number;
  readonly keyBytes: number;
}

interface Walk {
  readonly limits: Limits;
  /** Whether a text or number that has to be replaced is a fault. */
  readonly isExact: boolean;
  readonly parents: object[];
  /** The keys and places that lead to the value, from the root's name. */
  readonly path: (string | number)[];
  values: number;
  fault: string | undefined;
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
 * Makes any value storable as JSONB and sendable, and never throws. What JSON cannot express stays visible: `NaN` as
 * its name, bytes as `{base64}`, dates as ISO text, a cycle as `[circular]`. So does what is cut because it is deeper than
 * 64 levels or has over 100,000 values. Functions, symbols and `undefined` are dropped, as JSON.stringify does; a `toJSON`
 * method is never called.
 */
export function cleanJson(value: unknown): JsonValue {
  return clean(value, walkOf("", LAST_RESORT)) ?? null;
}

export type ReadJson<Value> = { readonly value: Value } | { readonly fault: string };

/**
 * The same for a value of which nothing may be cut: the fault is the first place that is over `JSON_LIMITS`.
 *
 * @param name the value's name in that fault
 */
export function readJson(value: unknown, name: string): ReadJson<JsonValue> {
  return read(value, walkOf(name, JSON_LIMITS));
}

/** The same for an object from a JSON text. Also what could not be stored as it was written is a fault. */
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
  return walk.fault === undefined ? { value: cleaned } : { fault: walk.fault };
}

/** Notes the first fault. */
function refuse(walk: Walk, why: string): void {
  walk.fault ??= describeFault(walk.path, why);
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
      if (walk.isExact) refuse(walk, "too large for a number, write it as a text");
      return String(value);
    case "bigint":
      return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    case "object":
      return value === null ? null : cleanContainer(value, walk);
    case "undefined":
    case "function":
    case "symbol":
      return undefined;
  }
}

function cleanPart(text: string, walk: Walk): string {
  const cleaned = cleanText(text);
  if (walk.isExact && cleaned !== text) refuse(walk, "the character U+0000 and half surrogate pairs cannot be stored");
  return cleaned;
}

function cleanContainer(value: object, walk: Walk): JsonValue {
  if (walk.parents.includes(value)) return "[circular]";
  if (walk.parents.length >= walk.limits.depth) {
    refuse(walk, `deeper than ${walk.limits.depth} levels`);
    return "[too deep]";
  }
  walk.parents.push(value);
  const { length } = walk.path;
  try {
    return cleanObject(value, walk);
  } catch {
    return "[unreadable]";
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
  if (value instanceof Date) return cleanDate(value);
  if (value instanceof ArrayBuffer) return { base64: toBase64(new Uint8Array(value)) };
  if (ArrayBuffer.isView(value)) {
    return { base64: toBase64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)) };
  }
  if (value instanceof URL) return cleanText(String(value.href));
  if (value instanceof Error) return { name: cleanText(String(value.name)), message: cleanText(String(value.message)) };
  return cleanEntries(Object.keys(value), (key) => readProperty(value, key), walk);
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
    if (cleaned !== undefined) setOwn(object, key, cleaned);
  }
  return object;
}

function isFull(walk: Walk): boolean {
  if (walk.values < walk.limits.values) return false;
  refuse(walk, `over ${walk.limits.values} values`);
  return true;
}

/** A getter that throws must not hide the other properties. */
function readProperty(object: object, key: string): unknown {
  try {
    return Reflect.get(object, key);
  } catch {
    return "[unreadable]";
  }
}

function cleanKey(key: unknown, walk: Walk): string {
  const text = cleanPart(typeof key === "string" ? key : keyOf(key), walk);
  const { keyBytes } = walk.limits;
  if (text.length * 3 > keyBytes && textEncoder.encode(text).length > keyBytes)
    refuse(walk, `a key is longer than ${keyBytes} bytes`);
  return text;
}

/** Keys of a Map that are not text: numbers and the like by their text, objects by their kind. */
function keyOf(key: unknown): string {
  return typeof key === "number" || typeof key === "bigint" || typeof key === "boolean" ? String(key) : typeof key;
}

function cleanDate(date: Date): string {
  const time = Date.prototype.getTime.call(date);
  return Number.isNaN(time) ? "Invalid Date" : new Date(time).toISOString();
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
