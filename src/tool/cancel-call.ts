import { type CancelReason } from "./call.ts";
import { type OpenCall } from "./call-ledger.ts";
import { type CallPorts } from "./call-ports.ts";
import { failure } from "./outcome.ts";

/** Ends an open call from our side and tells the client that runs it. What it did by then is not known. */
export function cancelCall(
  call: OpenCall,
  reason: CancelReason,
  ports: Pick<CallPorts, "ledger" | "sendCancel">,
): void {
  const { id, state, addressee } = call.current;
  const message =
    state === "running" ? "Cancelled while it was running; its outcome is unknown" : "Cancelled before it was started";
  if (ports.ledger.settle(id, failure("cancelled", message)) && addressee !== undefined)
    ports.sendCancel(call.current, reason);
}
