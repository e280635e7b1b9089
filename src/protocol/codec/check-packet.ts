import { MESSAGE_LIMITS } from "../limits.ts";
import type { PacketBudget } from "./packet-budget.ts";
import { headOf, PacketCursor } from "./packet-cursor.ts";
import { malformed, tooDeep, tooLarge, tooLong, tooMany } from "./refusals.ts";

/**
 * Validates a packet from an untrusted sender before it is decoded. No length may exceed the remaining bytes, the
 * packet must be within the limits, and keys must be strings. Decodes nothing, and allocates only a stack of 32 levels.
 * Unless it throws, subtracts the number of the packet's values from the budget.
 *
 * @throws {AppError} `malformed` or `too_large`
 */
export function checkPacket(bytes: Uint8Array, budget: PacketBudget): void {
  if (bytes.length > MESSAGE_LIMITS.envelopeBytes) throw tooLong();
  if (headOf(bytes[0] ?? 0).kind !== "map") throw malformed("The packet is not a map");
  const check = new Check(bytes, budget.values - 1);
  check.value(0);
  if (!check.isAtEnd) throw malformed("The packet has bytes after its map");
  budget.values = check.valuesLeft;
}

class Check {
  valuesLeft: number;
  readonly #cursor: PacketCursor;

  constructor(bytes: Uint8Array, valuesLeft: number) {
    this.#cursor = new PacketCursor(bytes);
    this.valuesLeft = valuesLeft;
  }

  get isAtEnd(): boolean {
    return this.#cursor.position === this.#cursor.bytes.length;
  }

  /** `depth` is the number of containers around the value. */
  value(depth: number): void {
    const cursor = this.#cursor;
    switch (cursor.next()) {
      case "scalar":
      case "bin":
        return void cursor.skip(cursor.length);
      case "ext":
        return void cursor.skip(1 + cursor.length);
      case "str":
        return this.#text(MESSAGE_LIMITS.stringBytes, "string");
      case "array":
        for (let left = this.#open(depth, 1); left > 0; left--) this.value(depth + 1);
        return;
      case "map":
        for (let left = this.#open(depth, 2); left > 0; left--) {
          if (cursor.next() !== "str") throw malformed("A key is not a string");
          this.#text(MESSAGE_LIMITS.keyBytes, "key");
          this.value(depth + 1);
        }
        return;
      case "invalid":
        throw malformed("The byte 0xc1 is not MessagePack");
    }
  }

  #text(limit: number, what: string): void {
    const { length } = this.#cursor;
    this.#cursor.skip(length);
    if (length > limit) throw tooLarge(`A ${what} is over ${limit} bytes`);
  }

  /** Checks a container against the limits and returns its number of items or entries. */
  #open(depth: number, valuesPerEntry: 1 | 2): number {
    const { length } = this.#cursor;
    this.#cursor.checkItems(length * valuesPerEntry);
    this.valuesLeft -= length;
    if (this.valuesLeft < 0) throw tooMany();
    if (depth === MESSAGE_LIMITS.depth) throw tooDeep();
    return length;
  }
}
