import { AppError } from "../../errors/app-error.ts";
import { type Head, headOf } from "./head-byte.ts";

/** Walks over MessagePack without decoding it, and never past the end. */
export class PacketCursor {
  readonly bytes: Uint8Array;
  position = 0;
  /** Of the value that `next` stopped at: bytes of content, items or entries. */
  length = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Reads a value's first byte and its length or count; the cursor then stands at its content. */
  next(): Head["kind"] {
    const { kind, lengthBytes, size } = headOf(this.bytes[this.skip(1) - 1] ?? 0);
    this.length = size;
    if (lengthBytes === 0) return kind;
    const end = this.skip(lengthBytes);
    for (let at = end - lengthBytes; at < end; at++) this.length = this.length * 256 + (this.bytes[at] ?? 0);
    return kind;
  }

  /** Returns where the cursor stands after these bytes. */
  skip(count: number): number {
    if (count > this.bytes.length - this.position) throw truncated();
    this.position += count;
    return this.position;
  }

  /** A container's claim is checked against the bytes that are left, at one byte an item, before it is believed. */
  checkItems(count: number): void {
    if (count > this.bytes.length - this.position) throw truncated();
  }
}

function truncated(): AppError {
  return new AppError("malformed", "The packet ends inside a value");
}
