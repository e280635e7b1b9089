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
  let open = 0;
  let forms = 0;
  const answered = async <Answer>(asked: Promise<Answer>): Promise<Answer> => {
    const { id } = call.current;
    if (open++ === 0) {
      deadline.stop();
      ports.ledger.setWaiting(id, true);
      ports.ledger.update(id, { deadlineAt: undefined });
    }
    let answer: Answer;
    try {
      answer = await abortable(asked, call.over);
    } finally {
      if (--open === 0 && !call.over.aborted) {
        deadline.start();
        ports.ledger.setWaiting(id, false);
        ports.ledger.update(id, { deadlineAt: deadline.at });
      }
    }
    // Rejects if another worker took over the session before the answer arrived, because the call now belongs to that
    // worker.
    await abortable(ports.record.durable(id), call.over);
    return answer;
  };
  const ask: ToolContext["ask"] = async (request) => {
    call.over.throwIfAborted();
    const permit = ports.questions.permitRunning(call, needOfRunning(tool, request));
    const answer = permit instanceof Promise ? await answered(permit) : permit;
    if (!answer.isAllowed) throw new PermissionDenied(`Not allowed: ${answer.why}`);
  };
  const elicit: ToolContext["elicit"] = async (request) => {
    call.over.throwIfAborted();
    return answered(ports.questions.elicit(call, request, forms++));
  };
  // A rejection that the tool does not await must not crash the process.
  return { ask: (request) => unawaited(ask(request)), elicit: (request) => unawaited(elicit(request)) };
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
