import { Decoder, type DecoderOptions, decodeTimestampExtension, type ExtensionCodecType } from "@msgpack/msgpack";
import { objectFor, setOwn } from "../../lib/json.ts";
import { MESSAGE_LIMITS } from "../limits.ts";
import { isPlainMap } from "../messages/fields.ts";
import { malformed, tooDeep, tooMany } from "./refusals.ts";

type KeyDecoder = NonNullable<DecoderOptions["keyDecoder"]>;

const lenient = new TextDecoder("utf-8", { ignoreBOM: true });
const strict = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/** Stands for the key `__proto__`, which the library refuses, until its maps are made. No key from UTF-8 is alike. */
const PROTO = "\uD800__proto__";

const extensionCodec: ExtensionCodecType<undefined> = {
  tryToEncode: () => null,
  decode(data, type) {
    // How some encoders write `undefined`.
    if (type === 0) return undefined;
    if (type !== -1) throw malformed("An extension type is neither 0 nor a timestamp");
    if (![4, 8, 12].includes(data.length)) throw malformed("A timestamp is not 4, 8 or 12 bytes");
    return decodeTimestampExtension(data);
  },
};

/** The first byte of a text's head, by how many bytes its length takes. */
const TEXT_TAGS = [undefined, 0xd9, 0xda, undefined, 0xdb];

/** What a packet holds. With a fault it is not whole: what is over a limit is `undefined` in it. */
export interface Unpacked {
  readonly root: Record<string, unknown>;
  readonly fault: Error | undefined;
}

/**
 * Reads a packet whose sender we trust, or that `checkPacket` has let through: a few bytes may claim a lot of memory. 64-bit
 * integers become bigints, timestamps Dates, bad UTF-8 U+FFFD. A value that is too deep, or one too many, is a fault.
 *
 * @param toKey makes the keys
 * @throws {AppError} `malformed`, or an error of the library, for what is no map in MessagePack
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
 * @param maxItems no list has more: the library makes room for a list before it looks whether the packet goes on
 */
function decoder(keyDecoder: KeyDecoder | null, maxItems: number): Decoder {
  return new Decoder({
    useBigInt64: true,
    // The library takes short texts for UTF-8 whatever they are, and of long ones it drops a byte order mark.
    rawStrings: true,
    extensionCodec,
    keyDecoder,
    maxArrayLength: maxItems,
  });
}

const scalars = decoder(null, 0);

/** Reads a text or a scalar that stands alone. */
export function unpackScalar(bytes: Uint8Array): unknown {
  return new Finish(bytes, false).value(scalars.decode(bytes), 0);
}

/**
 * Reads the number with which a worker begins an envelope, behind its key of ten bytes. It costs next to nothing whatever
 * the bytes are. Throws for most that begin otherwise.
 */
export function unpackStanzaId(bytes: Uint8Array): unknown {
  for (const first of scalars.decodeMulti(bytes.subarray(10, 19))) return first;
  return undefined;
}

/** Makes texts of the bytes that are such, and gives maps their key `__proto__`. Changes lists and maps in place. */
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

/** Whether a text's head stands before the content. Only one head with this length can stand there. */
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

/** @throws {AppError} `malformed` for what is not UTF-8 */
export function decodeKey(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    throw malformed("A key is not UTF-8");
  }
}
