import { Encoder } from "@msgpack/msgpack";

/** Nests deeper than the protocol allows, so that a check can break this limit. */
const encoder = new Encoder({ useBigInt64: true, ignoreUndefined: true, maxDepth: 200 });

/** Packs any value, for frames that the protocol's own encoder would refuse. */
export function pack(value: unknown): Uint8Array {
  return encoder.encode(value);
}
