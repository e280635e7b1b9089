import { Encoder } from "@msgpack/msgpack";

/** Deeper than the protocol allows, so that this limit can be broken too. */
const encoder = new Encoder({ useBigInt64: true, ignoreUndefined: true, maxDepth: 200 });

/** Packs any value: for frames that the protocol's own encoder would refuse to write. */
export function pack(value: unknown): Uint8Array {
  return encoder.encode(value);
}
