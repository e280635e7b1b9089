import { Decoder, type DecoderOptions, decodeTimestampExtension, type ExtensionCodecType } from "@msgpack/msgpack";
import { objectFor, setOwn } from "../../lib/json.ts";
import { MESSAGE_LIMITS } from "../limits.ts";
import { isPlainMap } from "../messages/fields.ts";
import { malformed, tooDeep, tooMany } from "./refusals.ts";

type KeyDecoder = NonNullable<DecoderOptions["keyDecoder"]>;

const lenient = new TextDecoder("utf-8", { ignoreBOM: true });
const strict = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/**
 * Stands in for the key `__proto__`, which the library rejects, until the maps are finished. Cannot be mistaken for
 * another key, because a key decoded from UTF-8 has no lone surrogate.
 */
const PROTO = "\uD800__proto__";

const extensionCodec: ExtensionCodecType<undefined> = {
  tryToEncode: () => null,
  decode(data, type) {
    // Some encoders write `undefined` as extension 0.
    if (type === 0) return undefined;
    if (type !== -1) throw malformed("An extension type is neither 0 nor a timestamp");
    if (![4, 8, 12].includes(data.length)) throw malformed("A timestamp is not 4, 8 or 12 bytes");
    return decodeTimestampExtension(data);
  },
};

/** The first byte of a string's head, indexed by the number of bytes in its length field. */
const TEXT_TAGS = [undefined, 0xd9, 0xda, undefined, 0xdb];

/** A decoded packet. If there is a fault, the packet is incomplete: values beyond a limit are `undefined`. */
export interface Unpacked {
  readonly root: Record<string, unknown>;
  readonly fault: Error | undefined;
}

/**
 * Decodes a packet that comes from a trusted sender or that `checkPacket` has accepted. In any other packet, a few
 * bytes may claim a lot of memory. 64-bit integers become bigints, timestamps become Dates, and invalid UTF-8 becomes
 * U+FFFD. It is a fault if a value is nested too deeply or if there are too many values.
 *
 * @param toKey decodes the keys
 * @throws {AppError} `malformed`, or an error from the library, if the bytes are not a MessagePack map
 */
export function unpack(bytes: Uint8Array, toKey = decodeKey): Unpacked {
  let hasProto = false;
  const keyDecoder: KeyDecoder = {
    canBeCached: () => true,
    decode: (all, start, length) => {
      const key = toKey(all.subarray(start, start + length));
      if (key !== "__proto__") return key;
      hasProto = true;
      return PROTO;
    },
  };
  const root = decoder(keyDecoder, bytes.length).decode(bytes);
  if (!isPlainMap(root)) throw malformed("The packet is not a map");
  const finish = new Finish(bytes, hasProto);
  return { root: finish.value(root, 0) as Record<string, unknown>, fault: finish.fault };
}

/**
 * @param maxItems the maximum length of a list; the library allocates a list before it checks whether the packet
 *   contains its items
 */
function decoder(keyDecoder: KeyDecoder | null, maxItems: number): Decoder {
  return new Decoder({
    useBigInt64: true,
    // Without this option, the library would decode short strings without checking their UTF-8, and would drop the byte
    // order mark of long ones.
    rawStrings: true,
    extensionCodec,
    keyDecoder,
    maxArrayLength: maxItems,
  });
}

const scalars = decoder(null, 0);

/** Decodes a single string or scalar. */
export function unpackScalar(bytes: Uint8Array): unknown {
  return new Finish(bytes, false).value(scalars.decode(bytes), 0);
}

/**
 * Reads the stanzaId at the start of a worker's envelope, skipping ten bytes: the map's head and the key. Cheap for any
 * bytes. Throws for most packets that start differently.
 */
export function unpackStanzaId(bytes: Uint8Array): unknown {
  for (const first of scalars.decodeMulti(bytes.subarray(10, 19))) return first;
  return undefined;
}

/** Decodes the strings and restores the key `__proto__`. Changes lists and maps in place. */
class Finish {
  fault: Error | undefined;
  readonly #bytes: Uint8Array;
  readonly #hasProto: boolean;
  #values = 1;

  constructor(bytes: Uint8Array, hasProto: boolean) {
    this.#bytes = bytes;
    this.#hasProto = hasProto;
  }

  /** `depth` is the number of containers around the value. */
  value(value: unknown, depth: number): unknown {
    if (typeof value !== "object" || value === null || value instanceof Date) return value;
    if (value instanceof Uint8Array) return isText(this.#bytes, value) ? lenient.decode(value) : value;
    const items = Array.isArray(value) ? value : Object.keys(value);
    this.#values += items.length;
    if (depth === MESSAGE_LIMITS.depth) this.fault ??= tooDeep();
    if (this.#values > MESSAGE_LIMITS.values) this.fault ??= tooMany();
    if (depth === MESSAGE_LIMITS.depth || this.#values > MESSAGE_LIMITS.values) return undefined;
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) value[index] = this.value(value[index], depth + 1);
      return value;
    }
    const map = value as Record<string, unknown>;
    const finished = this.#hasProto && Object.hasOwn(map, PROTO) ? objectFor<unknown>(items.length) : map;
    for (const key of items as string[])
      setOwn(finished, key === PROTO ? "__proto__" : key, this.value(map[key], depth + 1));
    return finished;
  }
}

/** Whether the bytes are preceded by a string's head. For any length, the heads of strings and bytes differ. */
function isText(bytes: Uint8Array, { byteOffset, length }: Uint8Array): boolean {
  const start = byteOffset - bytes.byteOffset;
  let size = 0;
  if (length < 32 && bytes[start - 1] === 0xa0 + length) return true;
  for (let width = 1; width <= 4; width++) {
    size += (bytes[start - width] ?? 0) * 256 ** (width - 1);
    if (size === length && bytes[start - width - 1] === TEXT_TAGS[width]) return true;
  }
  return false;
}

/** @throws {AppError} `malformed` if the bytes are not UTF-8 */
export function decodeKey(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    throw malformed("A key is not UTF-8");
  }
}
