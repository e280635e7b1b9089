import { Encoder } from "@msgpack/msgpack";

/** Allows deeper nesting than the protocol, so that a check can exceed the protocol's limit. */
const encoder = new Encoder({ useBigInt64: true, ignoreUndefined: true, maxDepth: 200 });

/** Packs any value, for frames that the protocol's own encoder would reject. */
export function pack(value: unknown): Uint8Array {
  return encoder.encode(value);
}
