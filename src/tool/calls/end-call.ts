import type { CancelReason, Failure, Outcome } from "../../conversation/call.ts";
import { failure } from "../outcome.ts";
import type { OpenCall } from "./call-ledger.ts";
import type { CallClients, CallPorts } from "./call-ports.ts";

export interface EndPorts extends Pick<CallPorts, "ledger"> {
  readonly clients: Pick<CallClients, "sendRequest" | "sendResult" | "sendCancel">;
}

/**
 * Ends a call without running it. All participants receive its request and its result, as for a call that the server
 * runs.
 */
export function endUnstartedCall(call: OpenCall, ports: EndPorts, outcome: Outcome): void {
  if (!ports.ledger.settle(call.current.id, outcome)) return;
  ports.clients.sendRequest(call.current).catch(() => {});
  ports.clients.sendResult(call.current);
}

/** Ends a call with a failure because its request is refused. */
export function refuseOpenCall(call: OpenCall, ports: EndPorts, why: Parameters<typeof failure>): void {
  endUnstartedCall(call, ports, failure(...why));
}

/**
 * Cancels an open call and notifies the client that runs it. What the client has done by then is unknown. The outcome
 * is `cancelled` only if a participant stopped or interrupted the call. If the session closes, or if the call that
 * asked for a form has ended, the outcome is `outcome_unknown` or `not_run`.
 */
export function cancelCall(call: OpenCall, reason: CancelReason, ports: EndPorts): void {
  settleAndNotify(call, { outcome: endOf(call, reason), reason }, ports);
}

/**
 * Ends one open call that a participant canceled. Its turn continues, and the model reads that a participant canceled
 * the call.
 */
export function cancelOne(call: OpenCall, ports: EndPorts): void {
  const when = call.mayHaveRun ? "while it was running; its outcome is unknown" : "before it was started";
  const outcome = failure("cancelled", `Cancelled by a participant ${when}`);
  if (call.current.state === "pending") endUnstartedCall(call, ports, outcome);
  else settleAndNotify(call, { outcome, reason: "interrupted" }, ports);
}

function settleAndNotify(
  call: OpenCall,
  { outcome, reason }: { readonly outcome: Failure; readonly reason: CancelReason },
  ports: EndPorts,
): void {
  const { id, addressee } = call.current;
  if (ports.ledger.settle(id, outcome) && addressee !== undefined) ports.clients.sendCancel(call.current, reason);
}

function endOf({ mayHaveRun }: OpenCall, reason: CancelReason): Failure {
  switch (reason) {
    case "closed":
      return mayHaveRun
        ? failure("outcome_unknown", "The session was closed while it was running; its outcome is unknown")
        : failure("not_run", "Not run: the session was closed before it was started");
    case "superseded":
      return mayHaveRun
        ? failure("outcome_unknown", "The call that showed the form has ended; the answer is unknown")
        : failure("not_run", "Not asked: the call that needed the form has ended");
    default:
      return mayHaveRun
        ? failure("cancelled", "Cancelled while it was running; its outcome is unknown")
        : failure("cancelled", "Cancelled before it was started");
  }
}
