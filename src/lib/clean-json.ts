import { FORBIDDEN_KEYS, type JsonObject, type JsonValue, objectFor } from "./json.ts";

/** An envelope may be 32 levels deep and adds up to 4 of them around a value, so what is cleaned here can be sent. */
const MAX_DEPTH = 28;
const MAX_VALUES = 45_000;
const MAX_KEY_BYTES = 256;
/** 80 UTF-16 units are at most 240 bytes of UTF-8. */
const CUT_KEY_LENGTH = 80;
const REPLACEMENT = "\uFFFD";
const textEncoder = new TextEncoder();

interface Walk {
  readonly parents: object[];
  values: number;
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
 * its name, bytes as `{base64}`, dates as ISO text, a cycle as `[circular]`, what is too deep or too much as a marker.
 * Functions, symbols and `undefined` are dropped, as JSON.stringify does; a `toJSON` method is never called.
 */
export function cleanJson(value: unknown): JsonValue {
  return clean(value, { parents: [], values: 0 }) ?? null;
}

/** `undefined` means "drop it". */
function clean(value: unknown, walk: Walk): JsonValue | undefined {
  walk.values++;
  switch (typeof value) {
    case "string":
      return cleanText(value);
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value + 0 : String(value);
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

function cleanContainer(value: object, walk: Walk): JsonValue {
  if (walk.parents.includes(value)) return "[circular]";
  if (walk.parents.length >= MAX_DEPTH) return "[too deep]";
  walk.parents.push(value);
  try {
    return cleanObject(value, walk);
  } catch {
    return "[unreadable]";
  } finally {
    walk.parents.pop();
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
  for (const item of items) {
    if (walk.values >= MAX_VALUES) {
      list.push("[too many values]");
      break;
    }
    list.push(clean(item, walk) ?? null);
  }
  return list;
}

function cleanEntries<Key>(keys: readonly Key[], read: (key: Key) => unknown, walk: Walk): JsonObject {
  const object = objectFor<JsonValue>(keys.length);
  for (const key of keys) {
    if (walk.values >= MAX_VALUES) {
      object["[too many values]"] = true;
      break;
    }
    const cleaned = clean(read(key), walk);
    if (cleaned !== undefined) object[cleanKey(key)] = cleaned;
  }
  return object;
}

/** A getter that throws must not hide the other properties. */
function readProperty(object: object, key: string): unknown {
  try {
    return Reflect.get(object, key);
  } catch {
    return "[unreadable]";
  }
}

function cleanKey(key: unknown): string {
  const text = cleanText(typeof key === "string" ? key : keyOf(key));
  if (FORBIDDEN_KEYS.has(text)) return `${text}_`;
  if (text.length <= CUT_KEY_LENGTH || textEncoder.encode(text).length <= MAX_KEY_BYTES) return text;
  return text.slice(0, CUT_KEY_LENGTH).toWellFormed() + REPLACEMENT;
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
