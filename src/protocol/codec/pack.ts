import { encode } from "@msgpack/msgpack";
import { AppError } from "../../errors/app-error.ts";
import { objectFor, setOwn } from "../../lib/json.ts";
import { MESSAGE_LIMITS } from "../limits.ts";
import { tooDeep, tooLarge, tooLong, tooMany, tooManyKeys } from "./refusals.ts";

const textEncoder = new TextEncoder();
/**
 * `useBigInt64` makes the library write integers of more than 32 bits as float64, provided the value contains no
 * bigint.
 */
const OPTIONS = { useBigInt64: true, initialBufferSize: 512 };

/**
 * Encodes a map as MessagePack, and rejects what the receiver's `unpackPacket` would reject. Integers have at most 32
 * bits; wider ones become float64. Entries without a value are omitted, and lone surrogates become U+FFFD.
 *
 * @throws {AppError} `too_large`, or `internal` for a value that MessagePack cannot represent
 */
export function packMap(map: Readonly<Record<string, unknown>>): Uint8Array {
  const bytes = encode(new Copy().value(map, 1), OPTIONS);
  if (bytes.length > MESSAGE_LIMITS.envelopeBytes) throw tooLong();
  return bytes;
}

/** Copies a value into a form that the library encodes correctly, and checks the limits. */
class Copy {
  readonly #keys = new Set<string>();
  #values = 1;
  /** A lower bound for the encoded size. */
  #bytes = 0;

  /** `depth` is the number of containers around the value, plus one. */
  value(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case "string":
        return this.#text(value, MESSAGE_LIMITS.stringBytes, "string");
      case "bigint":
        return toNumber(value);
      case "function":
      case "symbol":
        throw new AppError("internal", `A ${typeof value} cannot be encoded`);
      case "object":
        return value && this.#object(value, depth);
      default:
        return value;
    }
  }

  #text(text: string, limit: number, what: string): string {
    const { length } = text;
    if (length * 3 > limit && textEncoder.encode(text).length > limit)
      throw tooLarge(`A ${what} is over ${limit} bytes`);
    this.#spend(length);
    return text.toWellFormed();
  }

  #object(value: object, depth: number): unknown {
    if (value instanceof Date) {
      if (Number.isNaN(value.getTime())) throw new AppError("internal", "An invalid Date cannot be encoded");
      return value;
    }
    if (value instanceof Uint8Array) {
      this.#spend(value.length);
      return value;
    }
    if (depth > MESSAGE_LIMITS.depth) throw tooDeep();
    if (Array.isArray(value)) {
      this.#count(value.length);
      return value.map((item) => this.value(item, depth + 1));
    }
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === null || prototype === Object.prototype) return this.#map(value, depth);
    throw new AppError("internal", "An instance of a class cannot be encoded");
  }

  #map(map: object, depth: number): Record<string, unknown> {
    const entries = Object.entries(map).filter(([, value]) => value !== undefined);
    this.#count(entries.length);
    const copy = objectFor<unknown>(entries.length);
    for (const [key, value] of entries) {
      if (!key.isWellFormed()) throw new AppError("internal", "A key cannot be encoded as UTF-8");
      this.#text(key, MESSAGE_LIMITS.keyBytes, "key");
      if (this.#keys.add(key).size > MESSAGE_LIMITS.differentKeys) throw tooManyKeys();
      setOwn(copy, key, this.value(value, depth + 1));
    }
    return copy;
  }

  #count(values: number): void {
    this.#values += values;
    if (this.#values > MESSAGE_LIMITS.values) throw tooMany();
  }

  #spend(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > MESSAGE_LIMITS.envelopeBytes) throw tooLong();
  }
}

function toNumber(value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new AppError("internal", "An integer beyond 2^53 cannot be encoded");
  return number;
}
