import { watchedValue } from "./watched-value.ts";

/** An HTTP date is only as exact as this: it has whole seconds, and took time to arrive. */
const PRECISION_MS = 2_000;

const ahead = watchedValue(0);

/** By how many ms this device's clock is ahead of the worker's. */
export const useClockAhead = ahead.use;

/** Takes the worker's time from one of its answers. */
export function noteWorkerTime({ headers }: Response): void {
  const aheadMs = Date.now() - Date.parse(headers.get("date") ?? "");
  if (!Number.isNaN(aheadMs)) ahead.set(Math.abs(aheadMs) < PRECISION_MS ? 0 : aheadMs);
}
