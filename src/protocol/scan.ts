import { AppError } from "../errors/app-error.ts";
import { headOf } from "./head-byte.ts";
import { FORBIDDEN_KEYS, LIMITS } from "./limits.ts";
import { PacketCursor } from "./packet-cursor.ts";
import { type BadString, isUtf8 } from "./utf8.ts";

/** The decoder reads longer strings with TextDecoder, which replaces bad bytes itself; shorter ones it trusts. */
const TRUSTED_STRING_BYTES = 200;
const TIMESTAMP_BYTES: readonly number[] = [4, 8, 12];
const forbiddenKeys = [...FORBIDDEN_KEYS].map((key) => new TextEncoder().encode(key));

/** Open containers, by depth. One scan runs at a time and never waits, so all scans share them. */
const remaining = new Int32Array(LIMITS.depth + 1);
const holdsMap = new Uint8Array(LIMITS.depth + 1);

/**
 * Checks a packet before anything is decoded, so that decoding it costs no more than its own size: 50 bytes of nested
 * array headers would otherwise end the process. Returns the strings that must be repaired before decoding, in order.
 *
 * @throws {AppError} `malformed` or `too_large`
 */
export function scanPacket(bytes: Uint8Array): readonly BadString[] {
  if (bytes.length === 0) throw malformed("The packet is empty");
  if (bytes.length > LIMITS.envelopeBytes) throw tooLarge(`The envelope is over ${LIMITS.envelopeBytes} bytes`);
  if (headOf(bytes[0] ?? 0).kind !== "map") throw malformed("The packet is not a map");
  return new Scan(bytes).run();
}

class Scan {
  readonly #cursor: PacketCursor;
  readonly #badStrings: BadString[] = [];
  #depth = 0;
  #values = 0;

  constructor(bytes: Uint8Array) {
    this.#cursor = new PacketCursor(bytes);
  }

  run(): readonly BadString[] {
    this.#countValues(1);
    this.#readItem(false);
    while (this.#depth > 0) {
      const left = remaining[this.#depth] ?? 0;
      if (left === 0) {
        this.#depth--;
        continue;
      }
      remaining[this.#depth] = left - 1;
      this.#readItem(holdsMap[this.#depth] === 1 && left % 2 === 0);
    }
    if (this.#cursor.position < this.#cursor.bytes.length) throw malformed("The packet has bytes after its map");
    return this.#badStrings;
  }

  #readItem(isKey: boolean): void {
    const start = this.#cursor.position;
    const kind = this.#cursor.next();
    if (isKey && kind !== "str") throw malformed("A key is not a string");
    switch (kind) {
      case "str":
        return isKey ? this.#readKey() : this.#readString(start);
      case "scalar":
      case "bin":
        this.#cursor.skip(this.#cursor.length);
        return;
      case "ext":
        return this.#readExt();
      case "array":
        return this.#open(1);
      case "map":
        return this.#open(2);
      case "invalid":
        throw malformed("The byte 0xc1 is not MessagePack");
    }
  }

  #readKey(): void {
    const { bytes, length, position } = this.#cursor;
    const end = this.#cursor.skip(length);
    if (length > LIMITS.keyBytes) throw tooLarge(`A key is over ${LIMITS.keyBytes} bytes`);
    if (!isUtf8(bytes, position, end)) throw malformed("A key is not UTF-8");
    if (forbiddenKeys.some((key) => key.length === length && key.every((byte, at) => byte === bytes[position + at]))) {
      throw malformed("A key has a forbidden name");
    }
  }

  #readString(start: number): void {
    const { bytes, length, position: contentStart } = this.#cursor;
    const end = this.#cursor.skip(length);
    if (length > LIMITS.stringBytes) throw tooLarge(`A string is over ${LIMITS.stringBytes} bytes`);
    if (length <= TRUSTED_STRING_BYTES && !isUtf8(bytes, contentStart, end)) {
      this.#badStrings.push({ start, contentStart, end });
    }
  }

  #readExt(): void {
    const { bytes, length, position } = this.#cursor;
    this.#cursor.skip(1 + length);
    const type = bytes[position];
    if (type === 0) return;
    if (type !== 0xff) throw malformed("An extension type is neither 0 nor a timestamp");
    if (!TIMESTAMP_BYTES.includes(length)) throw malformed("A timestamp is not 4, 8 or 12 bytes long");
  }

  #open(itemsPerEntry: 1 | 2): void {
    const { length } = this.#cursor;
    this.#cursor.checkItems(length * itemsPerEntry);
    this.#countValues(length);
    if (this.#depth === LIMITS.depth) throw tooLarge(`The packet is nested over ${LIMITS.depth} deep`);
    this.#depth++;
    remaining[this.#depth] = length * itemsPerEntry;
    holdsMap[this.#depth] = itemsPerEntry - 1;
  }

  #countValues(count: number): void {
    this.#values += count;
    if (this.#values > LIMITS.values) throw tooLarge(`The packet has over ${LIMITS.values} values`);
  }
}

function malformed(message: string): AppError {
  return new AppError("malformed", message);
}

function tooLarge(message: string): AppError {
  return new AppError("too_large", message);
}
