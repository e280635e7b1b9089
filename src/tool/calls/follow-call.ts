import { TurnAbort } from "../../conversation/turn-abort.ts";
import { type Call } from "./call.ts";
import { type OpenCall } from "./call-ledger.ts";
import { type CallPorts, type CallTurn } from "./call-ports.ts";
import { toCallAnswer } from "./call-answer.ts";
import { cancelCall } from "./cancel-call.ts";
import { failure, messageOf, type ModelAnswer, type Outcome } from "../outcome.ts";
import { refuse } from "./refuse.ts";
import { backgroundReceipt, STILL_RUNNING, STILL_WAITING } from "./receipt.ts";

interface Follow {
  readonly ports: CallPorts;
  /** Hands the call, which is stored by now, to whoever runs it. A rejection is the call's failure. */
  readonly start: (call: OpenCall) => Promise<void> | undefined;
}

/**
 * Opens a call, starts it once it is durable and may start, and waits for its end, or for the end of its turn. A
 * background call is not waited for once it has begun.
 *
 * @throws the record's error, when the call could not be stored
 */
export async function followCall(call: Call, turn: CallTurn, { ports, start }: Follow): Promise<ModelAnswer> {
  const open = ports.ledger.open(call);
  const toAnswer = (outcome: Outcome) => toCallAnswer(open.current, outcome, ports.resultMaxBytes);
  const detached = watchTurn(open, turn.signal, ports);
  try {
    await Promise.race([ports.durable(call.id), open.settled]);
  } catch (error) {
    ports.ledger.settle(call.id, failure("execution_error", "Not run: the call could not be stored"));
    throw error;
  }
  void started(open, turn, { ports, start });
  const begun = call.isBackground ? [open.begun] : [];
  const end = await Promise.race([open.settled, detached, ...begun]);
  if (typeof end === "object") return toAnswer(end);
  void open.settled.then((late) => ports.onLateOutcome(open.current, toAnswer(late)));
  return { content: end === "begun" ? backgroundReceipt(call.id) : end, isError: false };
}

/** Never rejects: a start that fails in any way is the call's failure. */
async function started(open: OpenCall, turn: CallTurn, { ports, start }: Follow): Promise<void> {
  try {
    if (!open.over.aborted) await ports.untilMayStart(open, turn);
    if (!open.over.aborted) await start(open);
  } catch (error) {
    const failed = failure("execution_error", messageOf(error));
    if (open.current.state === "pending") refuse(open, ports, [failed.errorCode, failed.errorMessage]);
    else ports.ledger.settle(open.current.id, failed);
  }
}

type Receipt = typeof STILL_RUNNING | typeof STILL_WAITING;

/** Resolves, with what the model is told, when the turn was aborted and the call is to go on without it. */
function watchTurn(call: OpenCall, signal: AbortSignal, ports: CallPorts): Promise<Receipt> {
  const detached = Promise.withResolvers<Receipt>();
  const onAbort = () => {
    const kind = signal.reason instanceof TurnAbort ? signal.reason.kind : "closed";
    const { id, state, onInterrupt, isBackground } = call.current;
    const isKept = call.isWaiting || (state === "running" && (onInterrupt !== "cancel" || isBackground));
    if (kind !== "interrupted" || !isKept) return cancelCall(call, kind === "closed" ? "closed" : "interrupted", ports);
    if (!isBackground) ports.ledger.update(id, { isBackground: true });
    detached.resolve(call.isWaiting ? STILL_WAITING : STILL_RUNNING);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  void call.settled.then(() => signal.removeEventListener("abort", onAbort));
  return detached.promise;
}
