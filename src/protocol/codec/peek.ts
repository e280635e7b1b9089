import { MESSAGE_LIMITS } from "../limits.ts";
import { PacketCursor } from "./packet-cursor.ts";
import { malformed } from "./refusals.ts";
import { unpackScalar } from "./unpack.ts";

const WANTED_OF_ENVELOPE: ReadonlySet<string> = new Set(["stanzaId", "conversationId", "type"]);
const WANTED_OF_BODY: ReadonlySet<string> = new Set([
  "conversationId",
  "id",
  "requestId",
  "execution",
  "toolName",
  "originatingId",
  "permissionId",
  "acknowledgedStanzaId",
]);
const NOTHING: ReadonlySet<string> = new Set();
/** The longest value that is decoded here: an id in UTF-8 and its head. */
const MAX_BYTES = MESSAGE_LIMITS.idLength * 4 + 5;

/**
 * Reads the fields that identify a message, without decoding the rest. Used before a packet is admitted, and for
 * rejected packets, so that their call or request can be answered at once. Skips at most `4 * MESSAGE_LIMITS.values`
 * values. Never throws: on invalid bytes it stops and returns what it has read.
 */
export function peekEnvelope(bytes: Uint8Array): Record<string, unknown> {
  const peek = new Peek(bytes);
  const body: Record<string, unknown> = {};
  const envelope: Record<string, unknown> = { body };
  try {
    peek.readMap(WANTED_OF_ENVELOPE, envelope, { body: () => peek.readMap(WANTED_OF_BODY, body) });
  } catch {
    // Return what was read before the fault.
  }
  return envelope;
}

/** How many values may precede a message's type. The body of a ToolUseProgress has fewer. */
const MAX_BEFORE_TYPE = 100;

/**
 * Reads a message's type. Returns `undefined` if more than `MAX_BEFORE_TYPE` values precede it, so that this is cheap for
 * any packet. Never throws.
 */
export function peekType(bytes: Uint8Array): unknown {
  try {
    return new Peek(bytes, MAX_BEFORE_TYPE).readType();
  } catch {
    return undefined;
  }
}

/** A list inside a packet. */
export interface PeekedList {
  readonly start: number;
  readonly end: number;
  /** The bytes of each item. */
  readonly items: readonly Uint8Array[];
}

/** Finds the list of tools in a body. Returns `undefined` if there is none, or if the bytes are invalid. */
export function peekTools(bytes: Uint8Array): PeekedList | undefined {
  const peek = new Peek(bytes);
  let tools: PeekedList | undefined;
  const body = () => peek.readMap(NOTHING, {}, { tools: () => (tools = peek.readList()) });
  try {
    peek.readMap(NOTHING, {}, { body });
  } catch {
    return undefined;
  }
  return tools;
}

/** Reads the name in a tool announcement. Never throws. */
export function peekName(bytes: Uint8Array): unknown {
  const found: Record<string, unknown> = {};
  try {
    new Peek(bytes).readMap(new Set(["name"]), found);
  } catch {
    // If the name precedes the fault, it has been read.
  }
  return found["name"];
}

class Peek {
  readonly #cursor: PacketCursor;
  /** How many values may still be skipped. */
  #budget: number;

  constructor(bytes: Uint8Array, budget = 4 * MESSAGE_LIMITS.values) {
    this.#cursor = new PacketCursor(bytes);
    this.#budget = budget;
  }

  /** Copies the wanted entries `into` an object. The value of a key in `readers` is read by that function. */
  readMap(
    wanted: ReadonlySet<string>,
    into: Record<string, unknown>,
    readers: Readonly<Record<string, () => void>> = {},
  ): void {
    const start = this.#cursor.position;
    if (this.#cursor.next() !== "map") {
      this.#cursor.position = start;
      return this.skipValue();
    }
    const entries = this.#cursor.length;
    for (let entry = 0; entry < entries; entry++) {
      const key = this.#readSmall();
      if (typeof key === "string" && Object.hasOwn(readers, key)) readers[key]?.();
      else if (typeof key === "string" && wanted.has(key)) into[key] = this.#readSmall();
      else this.skipValue();
    }
  }

  readList(): PeekedList | undefined {
    const start = this.#cursor.position;
    if (this.#cursor.next() !== "array") {
      this.#cursor.position = start;
      this.skipValue();
      return undefined;
    }
    const items: Uint8Array[] = [];
    for (let left = this.#cursor.length; left > 0; left--) {
      const from = this.#cursor.position;
      this.skipValue();
      items.push(this.#cursor.bytes.subarray(from, this.#cursor.position));
    }
    return { start, end: this.#cursor.position, items };
  }

  readType(): unknown {
    if (this.#cursor.next() !== "map") return undefined;
    for (let left = this.#cursor.length; left > 0; left--) {
      if (this.#readSmall() === "type") return this.#readSmall();
      this.skipValue();
    }
    return undefined;
  }

  skipValue(): void {
    let pending = 1;
    while (pending > 0) {
      if (this.#budget-- <= 0) throw malformed("");
      pending--;
      const kind = this.#cursor.next();
      const { length } = this.#cursor;
      if (kind === "array" || kind === "map") pending += kind === "map" ? 2 * length : length;
      else this.#cursor.skip(kind === "ext" ? length + 1 : length);
    }
  }

  /** Decodes a short string or scalar. Returns `undefined` for any other value. */
  #readSmall(): unknown {
    const start = this.#cursor.position;
    const kind = this.#cursor.next();
    this.#cursor.position = start;
    this.skipValue();
    const isSmall = this.#cursor.position - start <= MAX_BYTES;
    if (!isSmall || (kind !== "str" && kind !== "scalar")) return undefined;
    return unpackScalar(this.#cursor.bytes.subarray(start, this.#cursor.position));
  }
}
