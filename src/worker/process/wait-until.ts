import { setTimeout as sleep } from "node:timers/promises";

/** Asks `condition` again and again, a little apart. Throws the signal's reason when that comes first. */
export async function waitUntil(condition: () => Promise<boolean> | boolean, signal: AbortSignal): Promise<void> {
  while (!(await condition())) {
    signal.throwIfAborted();
    await sleep(20);
  }
}
