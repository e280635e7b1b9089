import type { Failure } from "../../conversation/call.ts";
import { TOOL_TIMES } from "../../protocol/limits.ts";
import type { ClientSignal, OpenCall } from "./call-ledger.ts";
import type { CallPorts } from "./call-ports.ts";
import type { FoundTool, Route } from "../tool-routing.ts";
import { failure, timedOut } from "../outcome.ts";
import { runOnServer, untilStored } from "./run-on-server.ts";

interface ClientRun {
  readonly tool: Pick<FoundTool, "run" | "idempotent">;
  readonly input: unknown;
  /** The permitted values; used if the server takes the call over. */
  readonly permitted?: readonly string[];
  readonly ports: CallPorts;
  readonly route: Extract<Route, { to: "client" | "unannounced" }>;
  /** Whether an earlier worker may have sent the request. */
  readonly wasRequested: boolean;
}

/**
 * Asks one participant's client to run the call, and waits until the call ends: with an answer, at the deadline, or
 * because the participant left. The deadline is `timeoutMs` plus the grace period, from the moment the call is set
 * running. A call that an earlier worker sent has only the remaining time.
 *
 * The server takes over an `either` call if the client declined it, was never reached, or announced that it claims
 * calls and did not claim this one in time. If the client may have run the call, the server takes it over only if the
 * tool is idempotent. A client that does not claim calls and stays silent may be running the call, so the server waits
 * for the deadline. It then runs the call only if the tool is idempotent, with the full `timeoutMs` again.
 */
export async function runOnClient(call: OpenCall, { route, wasRequested, ...work }: ClientRun): Promise<void> {
  const { tool, ports } = work;
  const { id, timeoutMs, executionAsked, startedAt = Date.now() } = call.current;
  const isEither = executionAsked === "either" && tool.run !== undefined;
  const totalMs = timeoutMs + TOOL_TIMES.graceMs;
  const deadlineAt = startedAt + totalMs;
  // Across workers, only the stored wall-clock time is known. Within this worker, the monotonic clock is used.
  const leftMs = Math.min(totalMs, deadlineAt - Date.now());
  const startedAtTick = performance.now() - (totalMs - leftMs);
  const resolved = route.to === "client" ? ({ executionResolved: "client" } as const) : {};
  ports.ledger.update(id, { state: "running", addressee: route.identity, startedAt, deadlineAt, ...resolved });
  const overdue = Promise.withResolvers<"overdue">();
  const expire = () => {
    if (isEither && tool.idempotent && mayLackIt(call)) overdue.resolve("overdue");
    else if (ports.ledger.settle(id, timedOut(timeoutMs))) ports.clients.sendCancel(call.current, "timeout");
  };
  const timer = setTimeout(expire, Math.max(0, leftMs));
  let serverMs: number;
  try {
    // The call is stored first, so that the next worker asks the same participant and no other.
    await untilStored(call, ports);
    if (call.signal.aborted) return;
    const end = await Promise.race([requestOfClient(call, ports, { route, wasRequested }), overdue.promise]);
    if (!end || call.signal.aborted) return;
    if (end !== "overdue" && (!isEither || (end.mayHaveRun && !tool.idempotent))) {
      ports.ledger.settle(id, end.outcome, end.by);
      return;
    }
    serverMs = end === "overdue" ? timeoutMs : timeoutMs - (performance.now() - startedAtTick);
    ports.clients.sendCancel(call.current, "superseded");
  } finally {
    clearTimeout(timer);
  }
  await runOnServer(call, { ...work, leftMs: serverMs });
}

/** Whether the client may lack the tool: it has neither announced the tool, nor claimed the call, nor answered. */
function mayLackIt({ current }: OpenCall): boolean {
  return current.executionResolved === undefined;
}

/** Why the client will not answer. */
type Why = "declined" | "unclaimed" | "unreachable" | "left";

const FAILURES: Record<Why, Failure> = {
  declined: failure("unknown_tool", "The participant's client declined the call"),
  unclaimed: failure("client_disconnected", "The participant did not claim the call"),
  unreachable: failure("client_disconnected", "The request could not be delivered to the participant"),
  left: failure("client_disconnected", "The participant left while the tool was running; its outcome is unknown"),
};

/** How the client's part ended, and the call's outcome if the server does not take the call over. */
interface ClientEnd {
  readonly outcome: Failure;
  readonly mayHaveRun: boolean;
  /** The participant, if it sent this outcome itself. */
  readonly by?: string;
}

type Request = Pick<ClientRun, "route" | "wasRequested">;

/**
 * Sends the request, and sends it again when the participant returns. Resolves when the call has ended, or once it is
 * certain that the client will not answer.
 */
function requestOfClient(
  call: OpenCall,
  ports: CallPorts,
  { route, wasRequested }: Request,
): Promise<ClientEnd | undefined> {
  const { id } = call.current;
  const end = Promise.withResolvers<ClientEnd | undefined>();
  const claims = route.to === "unannounced" && route.claims;
  /** Whether the client has claimed the call. Also true if no claim is expected. */
  let isClaimed = !claims;
  let wasSent = wasRequested;
  let wasDelivered = false;
  // A client that was asked and then left may have run the call, whatever it answers when asked again.
  let mayHaveRun = wasRequested;
  let timer: NodeJS.Timeout | undefined;
  const giveUp = (why: Why) => end.resolve({ outcome: FAILURES[mayHaveRun ? "left" : why], mayHaveRun });
  const endIn = (afterMs: number, why: Why) => {
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
    void ports.clients.sendRequest(call.current).then(onSent, onFailed);
  };
  const onSignal = (signal: ClientSignal) => {
    if (typeof signal === "object") return end.resolve({ outcome: signal, mayHaveRun, by: route.identity });
    switch (signal) {
      case "claimed":
        // An Ack from a client that does not claim calls only says that the request has arrived.
        if (call.current.executionResolved === "client" || !claims) return;
        if (!isClaimed) clearTimeout(timer);
        isClaimed = true;
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
    }
  };
  ports.ledger.onClientSignal(id, onSignal);
  void call.settled.then(() => end.resolve(undefined));
  if (!isClaimed) endIn(TOOL_TIMES.claimMs, "unclaimed");
  if (!ports.clients.isPresent(route.identity)) onSignal("left");
  else send();
  return end.promise.finally(() => clearTimeout(timer));
}
