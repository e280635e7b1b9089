import { MESSAGE_LIMITS } from "../limits.ts";
import { tooManyKeys } from "./refusals.ts";
import { decodeKey } from "./unpack.ts";

/**
 * Returns a key decoder for one packet. It rejects packets with too many different keys, and caches decoded keys,
 * because the rows of a table repeat their keys.
 *
 * @param different the keys read so far; new keys are added
 */
export function rememberKeys(different: Set<string>): typeof decodeKey {
  /** The last key for each hash of its bytes. */
  const known = new Map<number, readonly [bytes: Uint8Array, key: string]>();
  return (bytes) => {
    let hash = bytes.length;
    for (let index = 0; index < bytes.length; index++) hash = (hash * 31 + (bytes[index] ?? 0)) | 0;
    const last = known.get(hash);
    if (last && isSame(last[0], bytes)) return last[1];
    const key = decodeKey(bytes);
    if (different.add(key).size > MESSAGE_LIMITS.differentKeys) throw tooManyKeys();
    known.set(hash, [bytes, key]);
    return key;
  };
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}
