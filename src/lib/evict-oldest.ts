/**
 * Deletes the oldest entries until at most `max` are left, so that clients cannot exhaust the memory. Reading or
 * overwriting an entry does not renew it; deleting and adding it again does.
 */
export function evictOldest<Key>(kept: Pick<Map<Key, unknown>, "size" | "keys" | "delete">, max: number): void {
  for (const oldest of kept.keys()) {
    if (kept.size <= max) return;
    kept.delete(oldest);
  }
}
