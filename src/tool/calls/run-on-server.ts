import { cleanJson } from "../../lib/clean-json.ts";
import { type OpenCall } from "./call-ledger.ts";
import { type CallPorts } from "./call-ports.ts";
import { askWhileRunning } from "./ask-while-running.ts";
import { Deadline } from "./deadline.ts";
import { type FoundTool } from "../directory.ts";
import { failure, messageOf, success, timedOut, toResultMap, type Outcome } from "../outcome.ts";
import { PermissionDenied } from "../permission-denied.ts";

interface ServerRun {
  readonly tool: Pick<FoundTool, "run" | "voiceApproval">;
  readonly input: unknown;
  /** What leave was given for, where this worker has judged it. */
  readonly permitted?: readonly string[];
  readonly ports: CallPorts;
  /** Of a call that was taken over from a client. @defaultValue the call's `timeoutMs` */
  readonly leftMs?: number;
}

/**
 * Runs the tool's function in this process: request to all participants, the run, result to all. The call settles on
 * the deadline at the latest, even when the function ignores its signal; what it returns later is recorded as late. A
 * call that was taken over from a client has only the time that is left.
 */
export async function runOnServer(call: OpenCall, { leftMs, ...work }: ServerRun): Promise<void> {
  const { ports } = work;
  const { id, timeoutMs, startedAt = Date.now() } = call.current;
  if (call.over.aborted) return;
  if (leftMs !== undefined && leftMs <= 0) return void ports.ledger.settle(id, timedOut(timeoutMs));
  const deadlineAt = startedAt + timeoutMs;
  ports.ledger.update(id, {
    state: "running",
    executionResolved: "server",
    addressee: undefined,
    startedAt,
    deadlineAt,
  });
  // The next worker runs nothing again that may have acted, and asks no client for what ran here.
  await ports.durable(id);
  if (call.over.aborted) return;
  ports.sendRequest(call.current).catch(() => {});
  const deadline = new Deadline(leftMs ?? timeoutMs, () => ports.ledger.settle(id, timedOut(timeoutMs)));
  void run(call, { ...work, deadline });
  await call.settled;
  deadline.stop();
  ports.sendResult(call.current);
}

async function run(
  call: OpenCall,
  { tool, input, permitted, ports, deadline }: ServerRun & { readonly deadline: Deadline },
): Promise<void> {
  const { id, idempotencyKey, participant } = call.current;
  const log = (line: string) => ports.ledger.report(id, { log: String(line) });
  const progress = (fraction: number) => ports.ledger.report(id, { progress: fraction });
  const own = { idempotencyKey, participant, room: ports.room, ...(permitted && { permitted }) };
  const ask = askWhileRunning(call, { tool, ports, deadline });
  const context = { ...own, signal: call.over, callId: id, log, progress, ask, traceHeaders: ports.traceOf(id) };
  let outcome: Outcome;
  try {
    outcome = success(toResultMap(cleanJson(await tool.run?.(input, context))));
  } catch (error) {
    if (call.over.aborted) return;
    const code = error instanceof PermissionDenied ? "permission_denied" : "execution_error";
    outcome = failure(code, messageOf(error));
  }
  if (!ports.ledger.settle(id, outcome)) ports.ledger.note(id, "late", { from: "server", outcome });
}
