import { type CancelReason } from "./call.ts";
import { type OpenCall } from "./call-ledger.ts";
import { type CallPorts } from "./call-ports.ts";
import { failure, type Failure } from "../outcome.ts";

/**
 * Ends an open call from our side and tells the client that runs it. What it did by then is not known. Only what the
 * participant has aborted is `cancelled` (spec/004).
 */
export function cancelCall(
  call: OpenCall,
  reason: CancelReason,
  ports: Pick<CallPorts, "ledger" | "sendCancel">,
): void {
  const { id, state, addressee } = call.current;
  const end = reason === "closed" ? endOfClosed(state === "running") : endOfAborted(state === "running");
  if (ports.ledger.settle(id, end) && addressee !== undefined) ports.sendCancel(call.current, reason);
}

function endOfAborted(isRunning: boolean): Failure {
  const message = isRunning
    ? "Cancelled while it was running; its outcome is unknown"
    : "Cancelled before it was started";
  return failure("cancelled", message);
}

function endOfClosed(isRunning: boolean): Failure {
  return isRunning
    ? failure("outcome_unknown", "The session was closed while it was running; its outcome is unknown")
    : failure("not_run", "Not run: the session was closed before it was started");
}
