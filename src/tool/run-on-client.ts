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
  /** An earlier worker may have sent the request. */
  readonly wasAsked: boolean;
}

/**
 * Asks one participant to run the call and waits for it to end: by its answer, by the deadline (`timeoutMs` and the
 * grace, from the moment of publishing; a call that was asked before has the time that is left), or because the
 * participant is gone. The server takes an `either` call over when the client declined it, did not claim it in time or
 * was never reached; where the client may have run it already, only if the tool is idempotent.
 */
export async function runOnClient(call: OpenCall, { tool, input, ports, route, wasAsked }: ClientRun): Promise<void> {
  const { id, timeoutMs, executionAsked, startedAt = Date.now() } = call.current;
  const isShared = executionAsked === "either" && tool.run !== undefined;
  const totalMs = timeoutMs + TOOL_TIMES.graceMs;
  const deadlineAt = startedAt + totalMs;
  // The stored start is all that a new worker knows. From here on no clock that can be set counts.
  const leftMs = Math.min(totalMs, deadlineAt - Date.now());
  const startedAtTick = performance.now() - (totalMs - leftMs);
  const resolved = route.to === "client" ? ({ executionResolved: "client" } as const) : {};
  ports.ledger.update(id, { state: "running", addressee: route.identity, startedAt, deadlineAt, ...resolved });
  const expire = () => {
    if (ports.ledger.settle(id, timedOut(timeoutMs))) ports.sendCancel(call.current, "timeout");
  };
  if (leftMs <= 0) return expire();
  const timer = setTimeout(expire, leftMs);
  try {
    // The next worker asks the same participant again, and nobody else.
    await ports.durable(id);
    if (call.over.aborted) return;
    const end = await ask(call, ports, { route, wasAsked });
    if (end === "settled" || call.over.aborted) return;
    if (!isShared || (end === "left" && !tool.idempotent)) {
      ports.ledger.settle(id, failure("client_disconnected", END_MESSAGES[end]));
      return;
    }
    ports.sendCancel(call.current, "superseded");
  } finally {
    clearTimeout(timer);
  }
  await runOnServer(call, { tool, input, ports, leftMs: timeoutMs - (performance.now() - startedAtTick) });
}

/** Why the client will not answer any more. */
type ClientEnd = "settled" | "declined" | "unclaimed" | "unreachable" | "left";

const END_MESSAGES: Record<Exclude<ClientEnd, "settled">, string> = {
  declined: "The participant declined the call",
  unclaimed: "The participant did not claim the call",
  unreachable: "The request could not be delivered to the participant",
  left: "The participant left while the tool was running; its outcome is unknown",
};

type Ask = Pick<ClientRun, "route" | "wasAsked">;

/** Sends the request and resolves when the call has ended or its client will not answer. Sends again on a return. */
function ask(call: OpenCall, ports: CallPorts, { route, wasAsked }: Ask): Promise<ClientEnd> {
  const { id } = call.current;
  const end = Promise.withResolvers<ClientEnd>();
  let isClaimed = route.to === "client";
  let wasSent = wasAsked;
  let wasDelivered = false;
  // A client that was asked and then went away may have run the call, whatever it says when it is asked again.
  let mayHaveRun = wasAsked;
  let timer: NodeJS.Timeout | undefined;
  const giveUp = (why: Exclude<ClientEnd, "settled">) => end.resolve(mayHaveRun ? "left" : why);
  const endIn = (afterMs: number, why: Exclude<ClientEnd, "settled">) => {
    clearTimeout(timer);
    timer = setTimeout(() => giveUp(why), afterMs);
  };
  const send = () => {
    wasSent = true;
    const onSent = () => (wasDelivered = true);
    const onFailed = () => {
      mayHaveRun ||= wasDelivered && isClaimed;
      giveUp("unreachable");
    };
    void ports.sendRequest(call.current).then(onSent, onFailed);
  };
  const onSignal = (signal: ClientSignal) => {
    switch (signal) {
      case "claimed":
        if (isClaimed) return;
        isClaimed = true;
        clearTimeout(timer);
        return ports.ledger.update(id, { executionResolved: "client" });
      case "declined":
        return giveUp("declined");
      case "left":
        if (!isClaimed) return;
        mayHaveRun ||= wasSent;
        return endIn(TOOL_TIMES.returnMs, "left");
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
