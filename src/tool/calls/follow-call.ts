import type { Call, CancelReason, Failure, Outcome } from "../../conversation/call.ts";
import { TurnAbort } from "../../conversation/turn-abort.ts";
import { failure, messageOf, toModelAnswer, type ModelAnswer } from "../outcome.ts";
import type { OpenCall } from "./call-ledger.ts";
import type { CallPorts, CallTurn } from "./call-ports.ts";

/** The receipt for a running call that goes on without its turn. */
const STILL_RUNNING = "Still running. Its outcome will be reported when it arrives.";
/** The receipt for a call that goes on without its turn and waits for a permission to start. */
const STILL_WAITING = "Waiting for the participant's permission. Its outcome will be reported when it arrives.";

/** The same for a running call that waits for any answer. */
const STILL_ASKING = "Waiting for the participant's answer. Its outcome will be reported when it arrives.";
const RECEIPTS: readonly string[] = [STILL_RUNNING, STILL_WAITING, STILL_ASKING];

/** Whether a result that the model was given is a receipt. */
export function isReceipt(content: unknown): boolean {
  if (typeof content !== "string") return false;
  if (RECEIPTS.includes(content)) return true;
  return /^Started in the background \(call [\w-]+\)\. Its result will /u.test(content);
}

function backgroundReceipt(callId: string): string {
  return `Started in the background (call ${callId}). Its result will be reported when it arrives.`;
}

interface Follow {
  readonly ports: CallPorts;
  /** Hands the stored call to the server or a client. A rejection is the call's failure. */
  readonly start: (call: OpenCall) => Promise<void> | undefined;
}

/** The call is not on record, and so must not run. */
class NotStored extends Error {
  override readonly message = "Not run: the call could not be stored";
}

/**
 * Resolves when the call, which has been set running, is stored with its tool_use block. Whoever hands it to the
 * server's function or to a client waits for this first.
 *
 * @throws {NotStored}
 */
export async function untilStored({ current }: OpenCall, ports: Pick<CallPorts, "durable" | "ledger">): Promise<void> {
  try {
    await ports.durable(current.id);
  } catch (error) {
    throw new NotStored(undefined, { cause: error });
  }
  ports.ledger.setGiven(current.id);
}

/**
 * Opens a call, starts it once it may start, and waits for its end or the end of its turn; for a background call only
 * until it has begun. It is stored once, as it is when it is started, and before anybody runs it.
 *
 * @throws the record's error, when the call could not be stored
 */
export async function followCall(call: Call, turn: CallTurn, { ports, start }: Follow): Promise<ModelAnswer> {
  const open = ports.ledger.open(call);
  const toAnswer = (outcome: Outcome) => toCallAnswer(open.current, outcome, ports.resultMaxBytes);
  const detached = watchTurn(open, turn.signal, ports);
  let unstored: NotStored | undefined;
  void startWhenAllowed(open, turn, { ports, start, onNotStored: (error) => (unstored = error) });
  const begun = call.isBackground ? [open.begun] : [];
  const end = await Promise.race([open.settled, detached, ...begun]);
  if (unstored) throw unstored.cause;
  if (typeof end === "object") return toAnswer(end);
  void open.settled.then((late) => ports.onLateOutcome(open.current, toAnswer(late)));
  return { content: end === "begun" ? backgroundReceipt(call.id) : end, isError: false };
}

/** The outcome in words for the model. When the participant changed the arguments, the words say so. */
export function toCallAnswer({ timeoutMs, editedInput }: Call, outcome: Outcome, maxBytes: number): ModelAnswer {
  const answer = toModelAnswer(outcome, { timeoutMs, maxBytes });
  if (!editedInput) return answer;
  const note = `The participant changed the arguments to ${JSON.stringify(editedInput)}.`;
  const { content } = answer;
  if (typeof content === "string") return { ...answer, content: `${note}\n${content}` };
  return { ...answer, content: [{ type: "text", text: note }, ...content] };
}

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

/** Never rejects: a start that fails in any way is the call's failure. */
async function startWhenAllowed(
  open: OpenCall,
  turn: CallTurn,
  { ports, start, onNotStored }: Follow & { readonly onNotStored: (error: NotStored) => void },
): Promise<void> {
  try {
    const mayStart = open.over.aborted ? undefined : ports.untilMayStart(open, turn);
    if (mayStart) await mayStart;
    if (!open.over.aborted) await start(open);
  } catch (error) {
    if (error instanceof NotStored) onNotStored(error);
    const failed = failure("execution_error", messageOf(error));
    if (open.current.state === "pending") refuseOpenCall(open, ports, [failed.errorCode, failed.errorMessage]);
    else ports.ledger.settle(open.current.id, failed);
  }
}

type DetachedReceipt = typeof STILL_RUNNING | typeof STILL_WAITING | typeof STILL_ASKING;

/** When the turn is aborted: cancels the call, or lets it go on without the turn and resolves with its receipt. */
function watchTurn(call: OpenCall, signal: AbortSignal, ports: CallPorts): Promise<DetachedReceipt> {
  const detached = Promise.withResolvers<DetachedReceipt>();
  const onAbort = () => {
    const kind = signal.reason instanceof TurnAbort ? signal.reason.kind : "closed";
    const { id, state, onInterrupt, isBackground } = call.current;
    const mayGoOn = call.isGiven && state === "running";
    const isKept = call.isWaiting || (mayGoOn && (onInterrupt !== "cancel" || isBackground));
    if (kind !== "interrupted" || !isKept) return cancelCall(call, kind === "closed" ? "closed" : "interrupted", ports);
    if (!isBackground) ports.ledger.update(id, { isBackground: true });
    const waiting = state === "running" ? STILL_ASKING : STILL_WAITING;
    detached.resolve(call.isWaiting ? waiting : STILL_RUNNING);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  void call.settled.then(() => signal.removeEventListener("abort", onAbort));
  return detached.promise;
}
