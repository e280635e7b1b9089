import { type OpenCall } from "./call-ledger.ts";
import { type CallPorts } from "./call-ports.ts";
import { failure } from "../outcome.ts";

/**
 * Ends a call that nobody is given. All participants are shown it as they are shown what the server runs: its request, then
 * its result.
 */
export function refuse(
  call: OpenCall,
  ports: Pick<CallPorts, "ledger" | "sendRequest" | "sendResult">,
  why: Parameters<typeof failure>,
): undefined {
  if (!ports.ledger.settle(call.current.id, failure(...why))) return;
  ports.sendRequest(call.current).catch(() => {});
  ports.sendResult(call.current);
}
