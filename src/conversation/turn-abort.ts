import { AppError } from "../errors/app-error.ts";

const CLOSED = "The worker stopped before the reply was complete: send it again when another agent is there";

/** Why a turn was aborted, as the reason of its signal. */
export class TurnAbort extends Error {
  /**
   * interrupted: the participant went on · passed_over: its device takes long, and another participant waits · stopped:
   * ControlStop · closed: the session ends
   */
  readonly kind: "interrupted" | "passed_over" | "stopped" | "closed";

  constructor(kind: TurnAbort["kind"]) {
    super(`The turn was ${kind}`);
    this.name = "TurnAbort";
    this.kind = kind;
  }
}

/** Whether participants ended the turn: by ControlStop, or by going on with something else. */
export function isUserAbort(signal: AbortSignal): signal is AbortSignal & { readonly reason: TurnAbort } {
  return signal.aborted && signal.reason instanceof TurnAbort && signal.reason.kind !== "closed";
}

/** How a turn ends whose signal was aborted. It is `cancelled` only when the participant stopped it. */
export function endAfterAbort(signal: AbortSignal): {
  readonly state: "interrupted" | "cancelled" | "failed";
  readonly error: AppError | undefined;
} {
  if (!isUserAbort(signal)) return { state: "failed", error: new AppError("unavailable", CLOSED) };
  return { state: signal.reason.kind === "stopped" ? "cancelled" : "interrupted", error: undefined };
}
