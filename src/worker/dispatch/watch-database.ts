import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../logger.ts";
import type { Service } from "../services/service.ts";

interface WatchOptions {
  /** Sends a query to PostgreSQL. Rejects if PostgreSQL does not answer in time. */
  readonly ask: () => Promise<unknown>;
  readonly logger: Logger;
}

const CHECK_EVERY_MS = 1_000;

/**
 * Checks every second whether PostgreSQL answers. A worker that loses its database soon serves no sessions. Without
 * this check, it would report the lowest load of all workers, and LiveKit would offer it every room, although it cannot
 * open a session.
 */
export function watchDatabase({ ask, logger }: WatchOptions): Service & { readonly isUnavailable: boolean } {
  const closing = new AbortController();
  const { signal } = closing;
  let isUnavailable = false;
  const check = async () => {
    const answers = await ask().then(
      () => true,
      () => false,
    );
    if (signal.aborted || answers !== isUnavailable) return;
    isUnavailable = !answers;
    if (isUnavailable) logger.error("PostgreSQL unavailable, not accepting rooms");
    else logger.info("PostgreSQL available again, accepting rooms");
  };
  void (async () => {
    while (!signal.aborted) {
      await check();
      await sleep(CHECK_EVERY_MS, undefined, { signal }).catch(() => {});
    }
  })();
  return {
    get isUnavailable() {
      return isUnavailable;
    },
    close: async () => closing.abort(),
  };
}
