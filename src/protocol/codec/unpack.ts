import { objectFor, setOwn } from "../../lib/json.ts";
import { MESSAGE_LIMITS } from "../limits.ts";
import { headOf, malformed, PacketCursor, tooLarge, tooLong } from "./packet-cursor.ts";

const lenient = new TextDecoder("utf-8", { ignoreBOM: true });
const strict = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/**
 * Decodes a packet from any sender. The packet's size bounds the cost: a container's count is checked against the bytes
 * that are left before it is used. 64-bit integers become bigints, timestamps Dates, bad UTF-8 U+FFFD.
 *
 * @param toKey makes the keys. @defaultValue each anew
 * @throws {AppError} `malformed` or `too_large`
 */
export function unpackPacket(bytes: Uint8Array, toKey?: typeof decodeKey): Record<string, unknown> {
  if (bytes.length > MESSAGE_LIMITS.envelopeBytes) throw tooLong();
  if (headOf(bytes[0] ?? 0).kind !== "map") throw malformed("The packet is not a map");
  const unpack = new Unpack(bytes, toKey);
  const root = unpack.readValue(0);
  if (!unpack.isAtEnd) throw malformed("The packet has bytes after its map");
  return root as Record<string, unknown>;
}

/** Decodes one value that stands alone. */
export function unpackValue(bytes: Uint8Array): unknown {
  return new Unpack(bytes).readValue(0);
}

class Unpack {
  readonly #cursor: PacketCursor;
  readonly #view: DataView;
  readonly #keys = new Set<string>();
  readonly #toKey: typeof decodeKey;
  #values = 1;

  constructor(bytes: Uint8Array, toKey = decodeKey) {
    this.#toKey = toKey;
    this.#cursor = new PacketCursor(bytes);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get isAtEnd(): boolean {
    return this.#cursor.position === this.#cursor.bytes.length;
  }

  /** `depth` is the number of containers around the value. */
  readValue(depth: number): unknown {
    const cursor = this.#cursor;
    const head = cursor.bytes[cursor.position] ?? 0;
    const kind = cursor.next();
    switch (kind) {
      case "scalar":
        return this.#readScalar(head, cursor.skip(cursor.length) - cursor.length);
      case "str":
        return this.#readString();
      case "bin":
        return this.#content();
      case "ext":
        return this.#readExt();
      case "array":
        return this.#readArray(depth);
      case "map":
        return this.#readMap(depth);
      case "invalid":
        throw malformed("The byte 0xc1 is not MessagePack");
    }
  }

  #readScalar(head: number, at: number): unknown {
    switch (head) {
      case 0xc0:
        return null;
      case 0xc2:
      case 0xc3:
        return head === 0xc3;
      case 0xca:
        return this.#view.getFloat32(at);
      case 0xcb:
        return this.#view.getFloat64(at);
      case 0xcc:
        return this.#view.getUint8(at);
      case 0xcd:
        return this.#view.getUint16(at);
      case 0xce:
        return this.#view.getUint32(at);
      case 0xcf:
        return this.#view.getBigUint64(at);
      case 0xd0:
        return this.#view.getInt8(at);
      case 0xd1:
        return this.#view.getInt16(at);
      case 0xd2:
        return this.#view.getInt32(at);
      case 0xd3:
        return this.#view.getBigInt64(at);
      default:
        return head < 0x80 ? head : head - 0x100;
    }
  }

  #content(): Uint8Array {
    const { bytes, position, length } = this.#cursor;
    return bytes.subarray(position, this.#cursor.skip(length));
  }

  #readString(): string {
    const content = this.#content();
    if (content.length > MESSAGE_LIMITS.stringBytes)
      throw tooLarge(`A string is over ${MESSAGE_LIMITS.stringBytes} bytes`);
    return lenient.decode(content);
  }

  #readKey(): string {
    if (this.#cursor.next() !== "str") throw malformed("A key is not a string");
    const content = this.#content();
    if (content.length > MESSAGE_LIMITS.keyBytes) throw tooLarge(`A key is over ${MESSAGE_LIMITS.keyBytes} bytes`);
    const key = this.#toKey(content);
    if (this.#keys.add(key).size > MESSAGE_LIMITS.differentKeys)
      throw tooLarge(`The packet has over ${MESSAGE_LIMITS.differentKeys} different keys`);
    return key;
  }

  /** Type 0 is how some encoders write `undefined`, -1 is a timestamp. */
  #readExt(): Date | undefined {
    const { length, position: at } = this.#cursor;
    this.#cursor.skip(1 + length);
    const type = this.#view.getInt8(at);
    if (type === 0) return undefined;
    if (type !== -1) throw malformed("An extension type is neither 0 nor a timestamp");
    switch (length) {
      case 4:
        return toDate(this.#view.getUint32(at + 1), 0);
      case 8: {
        const high = this.#view.getUint32(at + 1);
        return toDate((high & 3) * 2 ** 32 + this.#view.getUint32(at + 5), high >>> 2);
      }
      case 12:
        return toDate(Number(this.#view.getBigInt64(at + 5)), this.#view.getUint32(at + 1));
      default:
        throw malformed("A timestamp is not 4, 8 or 12 bytes");
    }
  }

  #readArray(depth: number): unknown[] {
    const items: unknown[] = [];
    for (let left = this.#open(depth, 1); left > 0; left--) items.push(this.readValue(depth + 1));
    return items;
  }

  #readMap(depth: number): Record<string, unknown> {
    let left = this.#open(depth, 2);
    const map = objectFor(left);
    for (; left > 0; left--) setOwn(map, this.#readKey(), this.readValue(depth + 1));
    return map;
  }

  /** Checks a container against the limits, and returns its number of items or entries. */
  #open(depth: number, valuesPerEntry: 1 | 2): number {
    const { length } = this.#cursor;
    this.#cursor.checkItems(length * valuesPerEntry);
    this.#values += length;
    if (this.#values > MESSAGE_LIMITS.values) throw tooLarge(`The packet has over ${MESSAGE_LIMITS.values} values`);
    if (depth === MESSAGE_LIMITS.depth) throw tooLarge(`The packet is nested over ${MESSAGE_LIMITS.depth} deep`);
    return length;
  }
}

/** @throws {AppError} `malformed` for what is not UTF-8 */
export function decodeKey(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    throw malformed("A key is not UTF-8");
  }
}

function toDate(seconds: number, nanoseconds: number): Date {
  return new Date(seconds * 1e3 + nanoseconds / 1e6);
}
