import { assertNever } from "../lib/assert-never.ts";
import { TOOL_TIMES } from "../protocol/limits.ts";
import { type ClientSignal, type OpenCall } from "./call-ledger.ts";
import { type CallPorts } from "./call-ports.ts";
import { type FoundTool, type Route } from "./directory.ts";
import { failure, timedOut } from "./outcome.ts";
import { runOnServer } from "./run-on-server.ts";

interface ClientRun {
  readonly tool: Pick<FoundTool, "run" | "idempotent">;
  readonly input: unknown;
  readonly ports: CallPorts;
  readonly route: Extract<Route, { to: "client" | "ask" }>;
}

/**
 * Asks one participant to run the call and waits for it to end: by its answer, by the deadline (`timeoutMs` and the
 * grace, from the moment of publishing; a call that was asked before has the time that is left), or because the participant is gone. The server takes an `either` call over
 * when the client declined it, did not claim it in time, was never reached, or left while an idempotent tool ran.
 */
export async function runOnClient(call: OpenCall, { tool, input, ports, route }: ClientRun): Promise<void> {
  const { id, timeoutMs, executionAsked, startedAt = Date.now() } = call.current;
  const isShared = executionAsked === "either" && tool.run !== undefined;
  const deadlineAt = startedAt + timeoutMs + TOOL_TIMES.graceMs;
  const resolved = route.to === "client" ? ({ executionResolved: "client" } as const) : {};
  ports.ledger.update(id, { state: "running", addressee: route.identity, startedAt, deadlineAt, ...resolved });
  const timer = setTimeout(() => {
    if (ports.ledger.settle(id, timedOut(timeoutMs))) ports.sendCancel(call.current, "timeout");
  }, deadlineAt - Date.now());
  try {
    const end = await ask(call, ports, route);
    if (end === "settled") return;
    if (!isShared || (end === "left" && !tool.idempotent)) {
      ports.ledger.settle(id, failure("client_disconnected", END_MESSAGES[end]));
      return;
    }
    ports.sendCancel(call.current, "superseded");
  } finally {
    clearTimeout(timer);
  }
  await runOnServer(call, { tool, input, ports });
}

/** Why the client will not answer any more. */
type ClientEnd = "settled" | "declined" | "unclaimed" | "unreachable" | "left";

const END_MESSAGES: Record<Exclude<ClientEnd, "settled">, string> = {
  declined: "The participant declined the call",
  unclaimed: "The participant did not claim the call",
  unreachable: "The request could not be delivered to the participant",
  left: "The participant left while the tool was running; its outcome is unknown",
};

/** Sends the request and resolves when the call has ended or its client will not answer. Sends again on a return. */
function ask(call: OpenCall, ports: CallPorts, route: ClientRun["route"]): Promise<ClientEnd> {
  const { id } = call.current;
  const end = Promise.withResolvers<ClientEnd>();
  let isClaimed = route.to === "client";
  let timer: NodeJS.Timeout | undefined;
  const endIn = (afterMs: number, why: ClientEnd) => {
    clearTimeout(timer);
    timer = setTimeout(() => end.resolve(why), afterMs);
  };
  const send = () => void ports.sendRequest(call.current).catch(() => end.resolve("unreachable"));
  const onSignal = (signal: ClientSignal) => {
    switch (signal) {
      case "claimed":
        if (isClaimed) return;
        isClaimed = true;
        clearTimeout(timer);
        return ports.ledger.update(id, { executionResolved: "client" });
      case "declined":
        return end.resolve("declined");
      case "left":
        return isClaimed ? endIn(TOOL_TIMES.returnMs, "left") : undefined;
      case "returned":
        if (isClaimed) clearTimeout(timer);
        return send();
      default:
        return assertNever(signal);
    }
  };
  ports.ledger.onClientSignal(id, onSignal);
  void call.settled.then(() => end.resolve("settled"));
  if (!isClaimed) endIn(TOOL_TIMES.claimMs, "unclaimed");
  if (!ports.isPresent(route.identity)) onSignal("left");
  else send();
  return end.promise.finally(() => clearTimeout(timer));
}
