import { abortable, unawaited } from "../../lib/abortable.ts";
import type { ToolContext } from "../define-tool.ts";
import { PermissionDenied } from "../permission-denied.ts";
import { needOfRunning } from "../permission-need.ts";
import type { FoundTool } from "../tool-routing.ts";
import type { OpenCall } from "./call-ledger.ts";
import type { CallPorts } from "./call-ports.ts";

interface RunningCall {
  readonly tool: Pick<FoundTool, "voiceApproval">;
  readonly ports: CallPorts;
  readonly deadline: Deadline;
}

/**
 * Returns the functions with which a running tool asks for permission or shows a form. The call's deadline is paused
 * while the tool waits for an answer.
 */
export function askWhileRunning(
  call: OpenCall,
  { tool, ports, deadline }: RunningCall,
): Pick<ToolContext, "ask" | "elicit"> {
  const pause = new Pause(call, ports.ledger, deadline);
  let forms = 0;
  const answered = async <Answer>(asked: Promise<Answer>): Promise<Answer> => {
    const { id } = call.current;
    pause.begin();
    let answer: Answer;
    try {
      answer = await abortable(asked, call.signal);
    } finally {
      pause.end();
    }
    // Rejects if another worker took over the session before the answer arrived, because the call now belongs to that
    // worker.
    await abortable(ports.record.durable(id), call.signal);
    return answer;
  };
  const ask: ToolContext["ask"] = async (request) => {
    call.signal.throwIfAborted();
    const permit = ports.questions.permitRunning(call, needOfRunning(tool, request));
    const answer = permit instanceof Promise ? await answered(permit) : permit;
    if (!answer.isAllowed) throw new PermissionDenied(`Not allowed: ${answer.why}`);
  };
  const elicit: ToolContext["elicit"] = async (request) => {
    call.signal.throwIfAborted();
    return answered(ports.questions.elicit(call, request, forms++));
  };
  // A rejection that the tool does not await must not crash the process.
  return { ask: (request) => unawaited(ask(request)), elicit: (request) => unawaited(elicit(request)) };
}

/** Pauses a call's deadline while at least one of its questions is open. */
class Pause {
  readonly #call: OpenCall;
  readonly #ledger: CallPorts["ledger"];
  readonly #deadline: Deadline;
  #open = 0;

  constructor(call: OpenCall, ledger: CallPorts["ledger"], deadline: Deadline) {
    this.#call = call;
    this.#ledger = ledger;
    this.#deadline = deadline;
  }

  begin(): void {
    if (this.#open++ > 0) return;
    const { id } = this.#call.current;
    this.#deadline.stop();
    this.#ledger.setWaiting(id, true);
    this.#ledger.update(id, { deadlineAt: undefined });
  }

  /** Resumes the deadline once no question is open. Does not resume the deadline of an aborted call. */
  end(): void {
    if (--this.#open > 0 || this.#call.signal.aborted) return;
    const { id } = this.#call.current;
    this.#deadline.start();
    this.#ledger.setWaiting(id, false);
    this.#ledger.update(id, { deadlineAt: this.#deadline.at });
  }
}

/** A call's timer, which can be paused and resumed. */
export class Deadline {
  readonly #onOver: () => void;
  #leftMs: number;
  #timer: NodeJS.Timeout | undefined;
  #runsSince = 0;

  constructor(ms: number, onOver: () => void) {
    this.#leftMs = ms;
    this.#onOver = onOver;
    this.start();
  }

  start(): void {
    this.#runsSince = performance.now();
    this.#timer ??= setTimeout(this.#onOver, this.#leftMs);
  }

  stop(): void {
    if (!this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - this.#runsSince));
  }

  /** The time at which the timer fires, in milliseconds since the epoch. Valid only while the timer is running. */
  get at(): number {
    return Math.round(Date.now() + this.#leftMs - (performance.now() - this.#runsSince));
  }
}
