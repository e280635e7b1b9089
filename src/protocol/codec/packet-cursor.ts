import { malformed } from "./refusals.ts";

/** The meaning of a MessagePack value's first byte. */
interface Head {
  readonly kind: "scalar" | "str" | "bin" | "ext" | "array" | "map" | "invalid";
  /** The number of bytes in the length or count that follows; 0 if `size` is already that length or count. */
  readonly lengthBytes: 0 | 1 | 2 | 4;
  /** The number of content bytes, array items or map entries. */
  readonly size: number;
}

const scalar = (size: number): Head => ({ kind: "scalar", lengthBytes: 0, size });
const sized = (kind: Head["kind"], lengthBytes: 1 | 2 | 4): Head => ({ kind, lengthBytes, size: 0 });
const fixExt = (size: number): Head => ({ kind: "ext", lengthBytes: 0, size });
const invalid: Head = { kind: "invalid", lengthBytes: 0, size: 0 };

/** The heads for the first bytes 0xc0 to 0xdf, in order. All other first bytes contain their value or length. */
const NAMED: readonly Head[] = [
  [scalar(0), invalid, scalar(0), scalar(0)],
  [sized("bin", 1), sized("bin", 2), sized("bin", 4)],
  [sized("ext", 1), sized("ext", 2), sized("ext", 4)],
  [scalar(4), scalar(8)],
  [scalar(1), scalar(2), scalar(4), scalar(8)],
  [scalar(1), scalar(2), scalar(4), scalar(8)],
  [fixExt(1), fixExt(2), fixExt(4), fixExt(8), fixExt(16)],
  [sized("str", 1), sized("str", 2), sized("str", 4)],
  [sized("array", 2), sized("array", 4)],
  [sized("map", 2), sized("map", 4)],
].flat();

function describe(byte: number): Head {
  if (byte < 0x80 || byte >= 0xe0) return scalar(0);
  if (byte < 0x90) return { kind: "map", lengthBytes: 0, size: byte & 0x0f };
  if (byte < 0xa0) return { kind: "array", lengthBytes: 0, size: byte & 0x0f };
  if (byte < 0xc0) return { kind: "str", lengthBytes: 0, size: byte & 0x1f };
  return NAMED[byte - 0xc0] ?? invalid;
}

const HEADS: readonly Head[] = Array.from({ length: 256 }, (_, byte) => describe(byte));

export function headOf(byte: number): Head {
  return HEADS[byte] ?? invalid;
}

/** Walks over MessagePack without decoding it. @throws {AppError} `malformed` if the bytes end inside a value */
export class PacketCursor {
  readonly bytes: Uint8Array;
  position = 0;
  /** The number of content bytes, array items or map entries in the value that `next` read last. */
  length = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Reads a value's first byte and its length or count. Afterwards the cursor is at the value's content. */
  next(): Head["kind"] {
    const { kind, lengthBytes, size } = headOf(this.bytes[this.skip(1) - 1] ?? 0);
    this.length = size;
    if (lengthBytes === 0) return kind;
    const end = this.skip(lengthBytes);
    for (let at = end - lengthBytes; at < end; at++) this.length = this.length * 256 + (this.bytes[at] ?? 0);
    return kind;
  }

  /** Skips bytes and returns the new position. */
  skip(count: number): number {
    if (count > this.bytes.length - this.position) throw truncated();
    this.position += count;
    return this.position;
  }

  /** Rejects a container's count if fewer bytes are left: each item takes at least one byte. */
  checkItems(count: number): void {
    if (count > this.bytes.length - this.position) throw truncated();
  }
}

const truncated = () => malformed("The packet ends inside a value");
