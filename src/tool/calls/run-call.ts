import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { isUserAbort } from "../../conversation/turn-abort.ts";
import { cleanJson } from "../../lib/clean-json.ts";
import { createId } from "../../lib/id.ts";
import { type JsonObject } from "../../lib/json.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { type Call } from "./call.ts";
import { type OpenCall } from "./call-ledger.ts";
import { type CallPorts, type CallTurn, type ToolUse } from "./call-ports.ts";
import { findTool, type FoundTool } from "../directory.ts";
import { followCall } from "./follow-call.ts";
import { tryParse } from "../input-schema.ts";
import { failure, type ModelAnswer } from "../outcome.ts";
import { refuse } from "./refuse.ts";
import { runPermitted } from "./run-permitted.ts";
import { type StateDetail } from "../server-tool.ts";

/**
 * Runs one tool use to its end and says what the model reads. Never rejects for anything that the tool, the client or
 * the model did: each failure is an error answer. When the turn is aborted while the call is open, the answer comes at
 * once, by the tool's `onInterrupt`: cancelled, or still running (and `onLateOutcome` later). A tool that runs in the
 * background is answered with a receipt once it has begun (and `onLateOutcome` later).
 *
 * @param stored the use's call, where an earlier worker has stored one and never started it
 * @throws the record's error, when the call could not be stored
 */
export function runCall(
  use: ToolUse,
  turn: CallTurn,
  { ports, stored }: { ports: CallPorts; stored?: Call | undefined },
): Promise<ModelAnswer> {
  const tool = findTool(use.toolName, ports.serverTools, ports.hosts(turn.participant));
  const call = stored ?? newCall(use, turn, { tool, ports });
  const isOneTooMany = ports.ledger.openCount >= LIMITS.openCalls;
  return followCall(call, turn, { ports, start: (open) => start(open, { use, tool, turn, isOneTooMany, ports }) });
}

/** A tool use that must not run (its step was cut off, say): on record, with the reason for the model. */
export function refuseCall(
  use: ToolUse,
  turn: CallTurn,
  { ports, why, stored }: { ports: CallPorts; why: string; stored?: Call | undefined },
): ModelAnswer {
  const tool = findTool(use.toolName, ports.serverTools, ports.hosts(turn.participant));
  const call = ports.ledger.open(stored ?? newCall(use, turn, { tool, ports }));
  ports.ledger.settle(call.current.id, failure(isUserAbort(turn.signal) ? "cancelled" : "not_run", why));
  return { content: why, isError: true };
}

interface Start {
  readonly use: ToolUse;
  readonly tool: FoundTool | undefined;
  readonly turn: CallTurn;
  /** As many calls as may be open were open when this one came. */
  readonly isOneTooMany: boolean;
  readonly ports: CallPorts;
}

/** Checks the call, then hands it to whoever runs it; every way out settles it. */
function start(call: OpenCall, { use, tool, turn, isOneTooMany, ports }: Start): Promise<void> | undefined {
  const no = (...why: Parameters<typeof failure>) => refuse(call, ports, why);
  if (!tool) return no("unknown_tool", `Tool '${use.toolName}' does not exist`);
  if (use.inputError !== undefined) return no("invalid_parameters", use.inputError);
  if (isOneTooMany) return no("execution_error", `More than ${LIMITS.openCalls} calls are open`);
  const input = tryParse(tool.input, call.current.input);
  if ("error" in input) return no("invalid_parameters", input.error);
  const earlier = ports.ledger.earlierOf(call.current);
  if (earlier && tool.onDuplicate === "reject")
    return no("execution_error", "Not run: the same call was made before in this turn");
  if (earlier) {
    ports.ledger.begin(call.current.id);
    return earlier.then((outcome) => void ports.ledger.settle(call.current.id, outcome));
  }
  return runPermitted(call, { tool, input: input.value, turn, ports });
}

function newCall(
  use: ToolUse,
  turn: CallTurn,
  { tool, ports }: { tool: FoundTool | undefined; ports: Pick<CallPorts, "defaultTimeoutMs" | "toolDetail"> },
): Call {
  // The model's JSON may hold what no later form can carry: 1e999, half a surrogate pair, a thousand levels.
  const input = cleanJson(use.input) as JsonObject;
  const canonical = `${turn.turnId}\n${use.toolName}\n${canonicalize(input)}`;
  return {
    id: createId(),
    toolUseId: use.toolUseId,
    turnId: turn.turnId,
    messageId: turn.messageId,
    participant: turn.participant,
    toolName: use.toolName,
    input,
    timeoutMs: tool?.timeoutMs ?? ports.defaultTimeoutMs,
    executionAsked: tool?.execution ?? "server",
    idempotencyKey: createHash("sha256").update(canonical).digest("base64url"),
    onInterrupt: tool?.onInterrupt ?? "cancel",
    isBackground: tool?.talk.isBackground ?? false,
    state: "pending",
    executionResolved: undefined,
    addressee: undefined,
    startedAt: undefined,
    deadlineAt: undefined,
    finishedAt: undefined,
    outcome: undefined,
    revision: 0,
    logs: [],
    progress: undefined,
    detail: detailOf(use.toolName, ports.toolDetail) ?? tool?.stateDetail ?? "full",
  };
}

function detailOf(name: string, details: CallPorts["toolDetail"]): StateDetail | undefined {
  return Object.hasOwn(details, name) ? details[name] : undefined;
}
