import { AppError } from "../../errors/app-error.ts";
import { MESSAGE_LIMITS } from "../limits.ts";
import { tooLarge, tooLong } from "./packet-cursor.ts";

const textEncoder = new TextEncoder();
const FIRST_BYTES = 512;
const SHORT_TEXT = 64;

/** A number that is written in 32 bits as a float, even a whole one. */
export class Float32 {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** How a kind of value says its size: with its first byte `head` up to `upTo`, else after `tag` or one of the next two. */
type SizeForm = readonly [head: number, upTo: number, tag: number];
const TEXT: SizeForm = [0xa0, 31, 0xd9];
const BYTES: SizeForm = [0, -1, 0xc4];
/** They have no form for sizes of one byte: the tag that would be its is that of something else. */
const LIST: SizeForm = [0x90, 15, 0xdb];
const MAP: SizeForm = [0x80, 15, 0xdd];

/**
 * Writes a map as MessagePack, and refuses what `unpackPacket` would refuse at the other end. Integers take 32 bits at
 * most, wider ones are float64. Entries without a value are left out, and lone surrogates become U+FFFD.
 *
 * @throws {AppError} `too_large`, or `internal` for what MessagePack cannot carry
 */
export function packMap(map: Readonly<Record<string, unknown>>): Uint8Array {
  const pack = new Pack();
  pack.writeValue(map, 1);
  return pack.bytes;
}

class Pack {
  #bytes = new Uint8Array(FIRST_BYTES);
  #view = new DataView(this.#bytes.buffer);
  #position = 0;
  #values = 1;
  readonly #keys = new Set<string>();

  /** @throws {AppError} `too_large` */
  get bytes(): Uint8Array {
    this.#reserve(0);
    return this.#bytes.slice(0, this.#position);
  }

  /** `depth` is the number of containers around the value, and the value itself. */
  writeValue(value: unknown, depth: number): void {
    switch (typeof value) {
      case "string":
        return this.#writeText(value, MESSAGE_LIMITS.stringBytes, "string");
      case "number":
        return this.#writeNumber(value);
      case "bigint":
        return this.#writeNumber(toNumber(value));
      case "boolean":
        return this.#write(value ? 0xc3 : 0xc2, 0);
      case "undefined":
        return this.#write(0xc0, 0);
      case "object":
        return value === null ? this.#write(0xc0, 0) : this.#writeObject(value, depth);
      case "function":
      case "symbol":
        throw new AppError("internal", `A ${typeof value} cannot be encoded`);
    }
  }

  #writeNumber(value: number): void {
    if (!Number.isInteger(value) || value < -(2 ** 31) || value >= 2 ** 32) {
      this.#write(0xcb, 8);
      this.#view.setFloat64(this.#position - 8, value);
    } else if (value >= -32 && value < 128) {
      this.#write(value & 0xff, 0);
    } else {
      // The sign takes a bit.
      const width = widthOf(value < 0 ? -2 * value - 1 : value);
      this.#write((value < 0 ? 0xd0 : 0xcc) + (width >> 1), width, value);
    }
  }

  #writeText(text: string, limit: number, what: string): void {
    const { length } = text;
    if (length > limit) throw tooLarge(`A ${what} is over ${limit} bytes`);
    this.#reserve(5 + 3 * length);
    const start = this.#position;
    // The size stands before the text and is known after it. Of ASCII it is the length.
    this.#writeSize(TEXT, length);
    const written = this.#writeCharacters(text);
    if (written > limit) throw tooLarge(`A ${what} is over ${limit} bytes`);
    if (written > length) {
      this.#position = start;
      this.#writeSize(TEXT, written);
      this.#writeCharacters(text);
    }
    this.#position += written;
  }

  /** Returns how many bytes they take from here. A call of the encoder costs more than to write a short text ourselves. */
  #writeCharacters(text: string): number {
    const { length } = text;
    let isAscii = length < SHORT_TEXT;
    for (let index = 0; isAscii && index < length; index++) {
      const code = text.charCodeAt(index);
      isAscii = code < 0x80;
      this.#bytes[this.#position + index] = code;
    }
    if (isAscii) return length;
    return textEncoder.encodeInto(text, this.#bytes.subarray(this.#position)).written;
  }

  #writeObject(value: object, depth: number): void {
    if (value instanceof Float32) {
      this.#write(0xca, 4);
      return this.#view.setFloat32(this.#position - 4, value.value);
    }
    if (value instanceof Date) return this.#writeDate(value);
    if (value instanceof Uint8Array) return this.#writeBytes(value);
    if (depth > MESSAGE_LIMITS.depth) throw tooLarge(`The packet is nested over ${MESSAGE_LIMITS.depth} deep`);
    if (Array.isArray(value)) return this.#writeList(value, depth);
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === null || prototype === Object.prototype) return this.#writeMap(value, depth);
    throw new AppError("internal", "An object of a class cannot be encoded");
  }

  /** The longest of the three forms of a timestamp, which every date fits. */
  #writeDate(date: Date): void {
    const time = date.getTime();
    if (Number.isNaN(time)) throw new AppError("internal", "An invalid Date cannot be encoded");
    const seconds = Math.floor(time / 1_000);
    this.#write(0xc7, 1, 12);
    this.#write(0xff, 4, (time - seconds * 1_000) * 1_000_000);
    this.#reserve(8);
    this.#view.setBigInt64(this.#position, BigInt(seconds));
    this.#position += 8;
  }

  #writeBytes(bytes: Uint8Array): void {
    if (bytes.length > MESSAGE_LIMITS.envelopeBytes) throw tooLong();
    this.#writeSize(BYTES, bytes.length);
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#position);
    this.#position += bytes.length;
  }

  #writeList(list: readonly unknown[], depth: number): void {
    this.#open(LIST, list.length);
    for (const item of list) this.writeValue(item, depth + 1);
  }

  #writeMap(map: object, depth: number): void {
    const entries = Object.entries(map).filter(([, value]) => value !== undefined);
    this.#open(MAP, entries.length);
    for (const [key, value] of entries) {
      this.#writeKey(key);
      this.writeValue(value, depth + 1);
    }
  }

  #writeKey(key: string): void {
    if (!key.isWellFormed()) throw new AppError("internal", "A key is not UTF-8");
    this.#writeText(key, MESSAGE_LIMITS.keyBytes, "key");
    if (this.#keys.add(key).size > MESSAGE_LIMITS.differentKeys)
      throw tooLarge(`The packet has over ${MESSAGE_LIMITS.differentKeys} different keys`);
  }

  #open(form: SizeForm, length: number): void {
    this.#values += length;
    if (this.#values > MESSAGE_LIMITS.values) throw tooLarge(`The packet has over ${MESSAGE_LIMITS.values} values`);
    this.#writeSize(form, length);
  }

  #writeSize([head, upTo, tag]: SizeForm, size: number): void {
    if (size <= upTo) return this.#write(head + size, 0);
    const width = widthOf(size, upTo === 15 ? 2 : 1);
    this.#write(tag + (width >> 1), width, size);
  }

  /** A first byte, and a number of so many bytes. Of 8 bytes the caller writes the number. */
  #write(head: number, width: 0 | 1 | 2 | 4 | 8, value = 0): void {
    this.#reserve(1 + width);
    const at = this.#position + 1;
    this.#bytes[at - 1] = head;
    if (width === 1) this.#view.setUint8(at, value);
    if (width === 2) this.#view.setUint16(at, value);
    if (width === 4) this.#view.setUint32(at, value);
    this.#position = at + width;
  }

  #reserve(count: number): void {
    if (this.#position > MESSAGE_LIMITS.envelopeBytes) throw tooLong();
    const needed = this.#position + count;
    if (needed <= this.#bytes.length) return;
    const bytes = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    bytes.set(this.#bytes);
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
  }
}

function widthOf(size: number, least: 1 | 2 = 1): 1 | 2 | 4 {
  return size > 0xff_ff ? 4 : size > 0xff ? 2 : least;
}

function toNumber(value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new AppError("internal", "An integer beyond 2^53 cannot be encoded");
  return number;
}
