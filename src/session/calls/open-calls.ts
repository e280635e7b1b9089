import type { Call } from "../../conversation/call.ts";
import type { OpenCall } from "../../tool/calls/call-ledger.ts";

// What the open calls of a turn mean for other turns.

/** How long a participant's own device may hold up the turns of others. */
const OTHERS_WAIT_MS = 3_000;

/** Whether there are any, and all of them wait for a permission. */
export function isOnlyWaiting(open: readonly OpenCall[]): boolean {
  return open.length > 0 && open.every(({ isWaiting }) => isWaiting);
}

/**
 * How long calls that run on their own participant's device, or wait for a permission, hold up the turns of others from now
 * on, in ms. `undefined`: something else runs.
 */
export function patienceLeft(open: readonly OpenCall[]): number | undefined {
  const running = open.filter(({ isWaiting }) => !isWaiting).map(({ current }) => current);
  if (open.length === 0 || !running.every(isOnOwnDevice)) return undefined;
  return Math.max(0, ...running.map(({ startedAt = 0 }) => startedAt + OTHERS_WAIT_MS - Date.now()));
}

/** Whether it is the run of a tool that speech must not interrupt. */
export function isBlocking({ isWaiting, current: { state, onInterrupt, isBackground } }: OpenCall): boolean {
  return state === "running" && onInterrupt === "block" && !isBackground && !isWaiting;
}

function isOnOwnDevice({ state, addressee, participant }: Call): boolean {
  return state === "running" && addressee === participant;
}
