import { decodeKey } from "./unpack.ts";

/**
 * Makes the keys of one packet: one that it has had before is not decoded again. Rows of a table have the same ones
 * again and again. The client SDK does without, to be small.
 */
export function rememberKeys(): typeof decodeKey {
  /** The last key with each hash of its bytes. */
  const known = new Map<number, readonly [bytes: Uint8Array, key: string]>();
  return (bytes) => {
    let hash = bytes.length;
    for (let index = 0; index < bytes.length; index++) hash = (hash * 31 + (bytes[index] ?? 0)) | 0;
    const last = known.get(hash);
    if (last && isSame(last[0], bytes)) return last[1];
    const key = decodeKey(bytes);
    known.set(hash, [bytes, key]);
    return key;
  };
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}
