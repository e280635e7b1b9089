import type { CancelReason, Failure } from "../../conversation/call.ts";
import { failure } from "../outcome.ts";
import type { OpenCall } from "./call-ledger.ts";
import type { CallPorts } from "./call-ports.ts";

/**
 * Ends a call that nobody runs. All participants get its request and its result, as for a call that the server runs.
 */
export function refuseOpenCall(
  call: OpenCall,
  ports: Pick<CallPorts, "ledger" | "sendRequest" | "sendResult">,
  why: Parameters<typeof failure>,
): void {
  if (!ports.ledger.settle(call.current.id, failure(...why))) return;
  ports.sendRequest(call.current).catch(() => {});
  ports.sendResult(call.current);
}

/**
 * Ends an open call from our side and tells the client that runs it. What the client did by then is not known. Only
 * what a participant stopped or interrupted is `cancelled`; what a closing session ends is `outcome_unknown` or
 * `not_run`.
 */
export function cancelCall(
  call: OpenCall,
  reason: CancelReason,
  ports: Pick<CallPorts, "ledger" | "sendCancel">,
): void {
  const { id, addressee } = call.current;
  const end = reason === "closed" ? endOfClosed(call.isGiven) : endOfAborted(call.isGiven);
  if (ports.ledger.settle(id, end) && addressee !== undefined) ports.sendCancel(call.current, reason);
}

function endOfAborted(isGiven: boolean): Failure {
  const message = isGiven
    ? "Cancelled while it was running; its outcome is unknown"
    : "Cancelled before it was started";
  return failure("cancelled", message);
}

function endOfClosed(isGiven: boolean): Failure {
  return isGiven
    ? failure("outcome_unknown", "The session was closed while it was running; its outcome is unknown")
    : failure("not_run", "Not run: the session was closed before it was started");
}
