/**
 * Deletes the entries that were put in first until no more than `max` are left, so that strangers cannot fill the
 * memory. Reading or overwriting an entry does not renew it; deleting it and putting it in again does.
 */
export function keepNewest<Key>(kept: Pick<Map<Key, unknown>, "size" | "keys" | "delete">, max: number): void {
  for (const oldest of kept.keys()) {
    if (kept.size <= max) return;
    kept.delete(oldest);
  }
}
