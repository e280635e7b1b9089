import { type Call } from "./call.ts";
import { toCallAnswer } from "./call-answer.ts";
import { type CallPorts, type CallTurn, type ToolUse } from "./call-ports.ts";
import { findTool, type FoundTool } from "../directory.ts";
import { failure, type ModelAnswer } from "../outcome.ts";
import { followCall } from "./follow-call.ts";
import { tryParse } from "../input-schema.ts";
import { runPermitted } from "./run-permitted.ts";
import { refuseCall, runCall } from "./run-call.ts";
import { runOnClient } from "./run-on-client.ts";
import { runOnServer } from "./run-on-server.ts";

/** What is known of a tool use whose call is not on record as running: nothing runs before that. */
export const NOT_STARTED = "Not run: the worker stopped before the tool was started.";
/** What is known of a call that ran on the server: `KillWithUs` ends the processes that it started there. */
const ENDED_WITH_WORKER = "Outcome unknown: the tool was started and ended with its worker; it may have had effects.";

/**
 * Brings a call to its end that an earlier worker left open, under the same id: a finished one keeps its outcome, a
 * client is asked again with the time that is left, and the server runs it again only if the tool is idempotent. One
 * that waits for a person's permission waits on. A call is on record as running before anybody is given it: one that is
 * not goes all the way of a new one. What may have run and cannot be asked about ends as "outcome unknown".
 *
 * @param stored the call as it was recorded; absent when it was never stored, and so never started
 */
export async function resumeCall(
  use: ToolUse,
  turn: CallTurn,
  { ports, stored }: { readonly ports: CallPorts; readonly stored: Call | undefined },
): Promise<ModelAnswer> {
  const found = findTool(use.toolName, ports.serverTools, ports.hosts(turn.participant));
  if (stored?.outcome) return toCallAnswer(stored, stored.outcome, ports.resultMaxBytes);
  if (stored?.state === "pending" && stored.wasAskedFor) return waitOn(stored, turn, { ports, tool: found });
  // Not started, and whether the model's message was ever complete is not known: only then may a tool act.
  if (!stored || stored.state === "pending") {
    if (!found?.idempotent) return refuseCall(use, turn, { ports, why: NOT_STARTED, stored });
    return runCall(use, turn, { ports, stored });
  }
  const { id, executionResolved } = stored;
  const run = {
    tool: found ?? { idempotent: false },
    input: found ? parsed(found, stored.editedInput ?? use.input) : use.input,
    ports,
  };
  // A client that is asked twice under one id runs the tool once, so asking again is always safe.
  const identity = stored.addressee;
  if (identity !== undefined && executionResolved !== "server") {
    const route = { to: "client", identity } as const;
    return followCall(stored, turn, { ports, start: (call) => runOnClient(call, { ...run, route, wasAsked: true }) });
  }
  // What it asked while it ran is over with that run: who goes on asks again.
  if (stored.wasAskedFor) await ports.withdraw(stored);
  if (found?.run && found.idempotent) {
    const fresh = { ...stored, startedAt: undefined, deadlineAt: undefined };
    return followCall(fresh, turn, { ports, start: (call) => runOnServer(call, { ...run, tool: found }) });
  }
  ports.ledger.open(stored);
  ports.ledger.settle(id, failure("outcome_unknown", ENDED_WITH_WORKER));
  return { content: ENDED_WITH_WORKER, isError: true };
}

/** The arguments were checked before the call was started; a schema that has changed since does not matter any more. */
function parsed(tool: FoundTool, input: unknown): unknown {
  const checked = tryParse(tool.input, input);
  return "error" in checked ? input : checked.value;
}

/** Whoever was asked may answer still, or has answered meanwhile. The call itself was never started. */
function waitOn(
  stored: Call,
  turn: CallTurn,
  { ports, tool }: { readonly ports: CallPorts; readonly tool: FoundTool | undefined },
): Promise<ModelAnswer> {
  return followCall(stored, turn, {
    ports,
    start: (call) => {
      if (!tool) throw new TypeError(`Tool '${stored.toolName}' does not exist`);
      return runPermitted(call, { tool, input: tool.input.parse(stored.input), turn, ports });
    },
  });
}
