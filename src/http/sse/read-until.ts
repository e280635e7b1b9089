import { setTimeout as sleep } from "node:timers/promises";

/** How long something that was told live may take to be stored. */
export const STORE_LIMIT_MS = 10_000;
const MAX_RETRY_MS = 250;

interface UntilOptions {
  readonly closed: AbortSignal;
  /** @defaultValue 10000 */
  readonly limitMs?: number;
}

/**
 * Reads from the store until it can be read and, where `read` says so, until it has what is wanted; `false` when that
 * took too long or the reader is gone.
 */
export async function readUntil(
  read: () => Promise<boolean | void>,
  { closed, limitMs = STORE_LIMIT_MS }: UntilOptions,
): Promise<boolean> {
  const giveUpAt = performance.now() + limitMs;
  for (let waitMs = 5; !closed.aborted; waitMs = Math.min(waitMs * 2, MAX_RETRY_MS)) {
    const isDone = await read().then(
      (has) => has ?? true,
      () => false,
    );
    if (isDone) return true;
    if (performance.now() > giveUpAt) return false;
    await sleep(waitMs, undefined, { signal: closed }).catch(() => {});
  }
  return false;
}
