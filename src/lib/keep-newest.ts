/**
 * Forgets what was put in first until no more than `max` are left, so that what is remembered of strangers has an end.
 * Reading makes nothing younger; who wants that puts it in anew.
 */
export function keepNewest<Key>(kept: Pick<Map<Key, unknown>, "size" | "keys" | "delete">, max: number): void {
  for (const oldest of kept.keys()) {
    if (kept.size <= max) return;
    kept.delete(oldest);
  }
}
