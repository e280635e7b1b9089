import { cleanJson } from "../lib/clean-json.ts";
import { type OpenCall } from "./call-ledger.ts";
import { type CallPorts } from "./call-ports.ts";
import { type FoundTool } from "./directory.ts";
import { failure, messageOf, success, timedOut, toResultMap, type Outcome } from "./outcome.ts";

interface ServerRun {
  readonly tool: Pick<FoundTool, "run">;
  readonly input: unknown;
  readonly ports: CallPorts;
  /** Of a call that was taken over from a client. @defaultValue the call's `timeoutMs` */
  readonly leftMs?: number;
}

/**
 * Runs the tool's function in this process: request to all participants, the run, result to all. The call settles on
 * the deadline at the latest, even when the function ignores its signal; what it returns later is recorded as late. A
 * call that was taken over from a client has only the time that is left.
 */
export async function runOnServer(call: OpenCall, { tool, input, ports, leftMs }: ServerRun): Promise<void> {
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
  const timer = setTimeout(() => ports.ledger.settle(id, timedOut(timeoutMs)), leftMs ?? timeoutMs);
  void run(call, { tool, input, ports });
  await call.settled;
  clearTimeout(timer);
  ports.sendResult(call.current);
}

async function run(call: OpenCall, { tool, input, ports }: ServerRun): Promise<void> {
  const { id, idempotencyKey, participant } = call.current;
  const log = (line: string) => ports.ledger.report(id, { log: String(line) });
  const progress = (fraction: number) => ports.ledger.report(id, { progress: fraction });
  const own = { idempotencyKey, participant, room: ports.room };
  const context = { ...own, signal: call.over, callId: id, log, progress, traceHeaders: ports.traceOf(id) };
  let outcome: Outcome;
  try {
    outcome = success(toResultMap(cleanJson(await tool.run?.(input, context))));
  } catch (error) {
    if (call.over.aborted) return;
    outcome = failure("execution_error", messageOf(error));
  }
  if (!ports.ledger.settle(id, outcome)) ports.ledger.note(id, "late", { from: "server", outcome });
}
