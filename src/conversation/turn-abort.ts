/** Why a turn was aborted, as the reason of its signal. */
export class TurnAbort extends Error {
  /** interrupted: the participant went on · stopped: ControlStop · closed: the session ends */
  readonly kind: "interrupted" | "stopped" | "closed";

  constructor(kind: TurnAbort["kind"]) {
    super(`The turn was ${kind}`);
    this.name = "TurnAbort";
    this.kind = kind;
  }
}

/** The participant has ended it: by ControlStop, or by going on with something else. */
export function isUserAbort({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof TurnAbort && reason.kind !== "closed";
}

/** The state in which a turn ends whose signal was aborted. */
export function stateAfterAbort({ reason }: AbortSignal): "interrupted" | "cancelled" {
  return reason instanceof TurnAbort && reason.kind === "interrupted" ? "interrupted" : "cancelled";
}
