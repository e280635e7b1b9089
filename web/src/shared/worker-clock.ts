import { watchedValue } from "./watched-value.ts";

/**
 * Smaller differences between the clocks are ignored: an HTTP date is in whole seconds, and its response took time to
 * arrive.
 */
const PRECISION_MS = 2_000;

const ahead = watchedValue(0);

/** Returns how many ms this device's clock is ahead of the worker's. */
export const useClockAhead = ahead.use;

/** Reads the worker's time from one of its responses. */
export function recordWorkerTime({ headers }: Response): void {
  const aheadMs = Date.now() - Date.parse(headers.get("date") ?? "");
  if (!Number.isNaN(aheadMs)) ahead.set(Math.abs(aheadMs) < PRECISION_MS ? 0 : aheadMs);
}
