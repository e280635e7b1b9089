import type { Call } from "../../conversation/call.ts";
import type { OpenCall } from "../../tool/calls/call-ledger.ts";
import type { CallTurn } from "../../tool/calls/call-ports.ts";
import type { ServerTool } from "../../tool/server-tool.ts";

// These functions decide how the open calls of a turn affect other turns.

/** How long a participant's own device may hold up other participants' turns. */
const OTHERS_WAIT_MS = 3_000;

/** Whether there are open calls and all of them are waiting for permission. */
export function isOnlyWaiting(open: readonly OpenCall[]): boolean {
  return open.length > 0 && open.every(({ isWaiting }) => isWaiting);
}

/**
 * Returns after how many ms the turn of these calls must yield to other participants' turns. A turn must yield only if
 * each of its open calls waits for permission or runs on the participant's own device. For any other turn, returns
 * `undefined`.
 */
export function yieldAfterMs(open: readonly OpenCall[]): number | undefined {
  const running = open.filter(({ isWaiting }) => !isWaiting).map(({ current }) => current);
  if (open.length === 0 || !running.every(isOnOwnDevice)) return undefined;
  return Math.max(0, ...running.map(({ startedAt = 0 }) => startedAt + OTHERS_WAIT_MS - Date.now()));
}

/** Whether a tool is running that speech must not interrupt. */
export function isBlocking({ isWaiting, current: { state, onInterrupt, isBackground } }: OpenCall): boolean {
  return state === "running" && onInterrupt === "block" && !isBackground && !isWaiting;
}

/** Whether the rest of this turn cannot be interrupted because a call of a tool that is not interruptible has started. */
export function protectsTurn(
  { toolName, turnId, startedAt }: Call,
  turn: Pick<CallTurn, "turnId"> | undefined,
  tools: ReadonlyMap<string, Pick<ServerTool, "interruptible">>,
): boolean {
  return turnId === turn?.turnId && startedAt !== undefined && tools.get(toolName)?.interruptible === false;
}

function isOnOwnDevice({ state, addressee, participant }: Call): boolean {
  return state === "running" && addressee === participant;
}
