import { AppError } from "../errors/app-error.ts";

const CLOSED = "The worker stopped before the reply was complete: send the message again once another agent has joined";

/** Why a turn was aborted: the `reason` of its signal. */
export class TurnAbort extends Error {
  /**
   * - interrupted: the participant spoke or wrote again
   * - passed_over: the participant's device is slow to answer, and another participant is waiting
   * - stopped: ControlStop
   * - closed: the session ends
   */
  readonly kind: "interrupted" | "passed_over" | "stopped" | "closed";

  constructor(kind: TurnAbort["kind"]) {
    super(`The turn was ${kind}`);
    this.name = "TurnAbort";
    this.kind = kind;
  }
}

/**
 * Whether the turn was aborted while its session continues: by ControlStop, by new input, or because another turn was
 * waiting.
 */
export function isOnlyTurnAborted(signal: AbortSignal): signal is AbortSignal & { readonly reason: TurnAbort } {
  return signal.aborted && signal.reason instanceof TurnAbort && signal.reason.kind !== "closed";
}

/**
 * Returns how a turn ends after its signal was aborted. The state is `cancelled` only if the participant stopped the
 * turn.
 */
export function endAfterAbort(signal: AbortSignal): {
  readonly state: "interrupted" | "cancelled" | "failed";
  readonly error: AppError | undefined;
} {
  if (!isOnlyTurnAborted(signal)) return { state: "failed", error: new AppError("unavailable", CLOSED) };
  return { state: signal.reason.kind === "stopped" ? "cancelled" : "interrupted", error: undefined };
}
