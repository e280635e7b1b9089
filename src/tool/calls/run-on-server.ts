import type { FoundTool } from "../tool-routing.ts";
import { failure, messageOf, timedOut } from "../outcome.ts";
import { PermissionDenied } from "../permission-denied.ts";
import { readReturned, type ReadResult } from "../results/read-result.ts";
import { askWhileRunning, Deadline } from "./ask-while-running.ts";
import type { OpenCall } from "./call-ledger.ts";
import type { CallPorts } from "./call-ports.ts";

/** The call could not be stored, and so must not run. */
export class NotStored extends Error {
  override readonly message = "Not run: the call could not be stored";
}

/**
 * Resolves once a call that was set to `running` is stored, together with its tool_use block. Wait for this before
 * passing the call to the server's function or to a client.
 *
 * @throws {NotStored}
 */
export async function untilStored({ current }: OpenCall, ports: Pick<CallPorts, "record" | "ledger">): Promise<void> {
  try {
    await ports.record.durable(current.id);
  } catch (error) {
    throw new NotStored(undefined, { cause: error });
  }
  ports.ledger.markStarted(current.id);
}

interface ServerRun {
  readonly tool: Pick<FoundTool, "run" | "voiceApproval">;
  readonly input: unknown;
  /** The permitted values; absent if an earlier worker obtained the permission. */
  readonly permitted?: readonly string[];
  readonly ports: CallPorts;
  /** The remaining time of a call that was taken over from a client. @defaultValue the call's `timeoutMs` */
  readonly leftMs?: number;
}

/**
 * Runs the tool's function in this process: sends the request to all participants, runs the function, and sends the
 * result to all. The call settles at the deadline at the latest, even if the function ignores its signal. The deadline
 * is paused while the tool asks a participant. Whatever the function returns later is recorded as late. A call that was
 * taken over from a client has only the remaining time.
 */
export async function runOnServer(call: OpenCall, { leftMs, ...work }: ServerRun): Promise<void> {
  const { ports } = work;
  const { id, timeoutMs, startedAt = Date.now() } = call.current;
  if (call.signal.aborted) return;
  if (leftMs !== undefined && leftMs <= 0) return void ports.ledger.settle(id, timedOut(timeoutMs));
  const deadlineAt = leftMs === undefined ? startedAt + timeoutMs : Math.round(Date.now() + leftMs);
  ports.ledger.update(id, {
    state: "running",
    executionResolved: "server",
    addressee: undefined,
    startedAt,
    deadlineAt,
  });
  // The call is stored first, so that the next worker neither repeats a call that may have had effects nor asks a
  // client to run it.
  await untilStored(call, ports);
  if (call.signal.aborted) return;
  ports.clients.sendRequest(call.current).catch(() => {});
  const deadline = new Deadline(leftMs ?? timeoutMs, () => ports.ledger.settle(id, timedOut(timeoutMs)));
  void run(call, { ...work, deadline });
  await call.settled;
  deadline.stop();
  ports.clients.sendResult(call.current);
}

async function run(
  call: OpenCall,
  { tool, input, permitted, ports, deadline }: ServerRun & { readonly deadline: Deadline },
): Promise<void> {
  const { id, idempotencyKey, participant } = call.current;
  const log = (line: string) => ports.ledger.report(id, { log: String(line) });
  const progress = (fraction: number) => ports.ledger.report(id, { progress: fraction });
  const { room, roomSid, sessionId } = ports.settings;
  const own = { idempotencyKey, participant, room, roomSid, sessionId, ...(permitted && { permitted }) };
  const asking = askWhileRunning(call, { tool, ports, deadline });
  const context = {
    ...own,
    ...asking,
    signal: call.signal,
    callId: id,
    session: ports.state.accessOf({ id, signal: call.signal }),
    ...ports.session.describe(participant),
    log,
    progress,
    traceHeaders: ports.session.traceOf(id),
  };
  let read: ReadResult;
  try {
    read = readReturned(await tool.run?.(input, context));
    if (!call.signal.aborted) ports.state.check(id);
  } catch (error) {
    if (call.signal.aborted) return;
    const isDenied = error instanceof PermissionDenied;
    if (!isDenied) ports.session.onThrew(call.current, error);
    const code = isDenied ? "permission_denied" : "execution_error";
    read = { outcome: failure(code, messageOf(error)), media: [] };
  }
  const { outcome, media } = read;
  if (!call.signal.aborted) ports.record.storeMedia(call.current, media);
  if (!ports.ledger.settle(id, outcome)) ports.ledger.note(id, "late", { from: "server", outcome });
}
