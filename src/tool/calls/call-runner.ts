import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { type Call, type Outcome, INITIAL_CALL_STATE } from "../../conversation/call.ts";
import { isOnlyTurnAborted, TurnAbort } from "../../conversation/turn-abort.ts";
import { cleanJson, readExactJson } from "../../lib/clean-json.ts";
import { createId } from "../../lib/id.ts";
import type { JsonObject } from "../../lib/json.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { findTool, routeCall, type FoundTool } from "../tool-routing.ts";
import { tryParse } from "../input-schema.ts";
import { backgroundReceipt, failure, messageOf, type ModelAnswer, RECEIPTS, toCallAnswer } from "../outcome.ts";
import { permissionNeed, type PermissionNeed, type Permit } from "../permission-need.ts";
import type { OpenCall } from "./call-ledger.ts";
import type { CallPorts, CallTurn, ToolUse } from "./call-ports.ts";
import { cancelCall, endUnstartedCall, refuseOpenCall } from "./end-call.ts";
import { runOnClient } from "./run-on-client.ts";
import { NotStored, runOnServer } from "./run-on-server.ts";

/** What the model reads about a call that was not stored as running, and so was never started. */
export const NOT_STARTED = "Not run: the worker stopped before the tool was started.";
/**
 * What the model reads about a call that was running on the server when its worker stopped. `ProcessGroupReaper` has
 * killed the processes that the tool started.
 */
const ENDED_WITH_WORKER =
  "Outcome unknown: the worker stopped while the tool was running; the tool may have had effects.";

const UNANNOUNCED = { to: "unannounced", claims: false } as const;

/** A call whose tool is known and whose arguments are valid. */
interface Checked {
  readonly tool: FoundTool;
  readonly input: unknown;
  readonly turn: CallTurn;
}

interface Judged extends Checked {
  readonly need: PermissionNeed;
}

/** Passes the stored call to the server or a client, or settles it. */
type Start = (call: OpenCall) => Promise<void> | undefined;

/**
 * Processes a session's calls, from the model's tool use to the result that the model reads. It finds the tool, checks
 * the arguments, asks for permission if the rules require it, and passes the call to the server or a client. The ledger
 * settles the call.
 */
export class CallRunner {
  readonly #ports: CallPorts;

  constructor(ports: CallPorts) {
    this.#ports = ports;
  }

  /**
   * Runs one tool use and resolves with what the model reads. Failures of the tool, the client or the model do not
   * reject, but become error results. If the turn is aborted while the call is open, this resolves at once. Depending
   * on the tool's `onInterrupt`, the call is then canceled, or it continues and `onLateOutcome` is called at its end. A
   * background call resolves with a receipt once it has begun, and `onLateOutcome` is called at its end.
   *
   * @param stored the call of this tool use, if an earlier worker stored it but never started it
   * @throws the record's error if the call could not be stored
   */
  run(use: ToolUse, turn: CallTurn, stored?: Call): Promise<ModelAnswer> {
    const tool = this.#find(use, turn);
    const call = stored ?? newCall(use, turn, { tool, ports: this.#ports });
    const isOneTooMany = this.#ports.ledger.openCount >= LIMITS.openCalls;
    return this.#follow(call, turn, (open) => {
      const inputError = use.inputError ?? faultOf(use.input);
      if (tool && inputError !== undefined) return this.#refuse(open, "invalid_parameters", inputError);
      if (tool && isOneTooMany)
        return this.#refuse(open, "execution_error", `More than ${LIMITS.openCalls} calls are open`);
      return this.#start(open, tool, turn);
    });
  }

  /**
   * Stores a tool use that must not run, for example because its step was cut off. `why` is the reason that the model
   * reads.
   */
  refuse(use: ToolUse, turn: CallTurn, { why, stored }: { why: string; stored?: Call | undefined }): ModelAnswer {
    const tool = this.#find(use, turn);
    const call = this.#ports.ledger.open(stored ?? newCall(use, turn, { tool, ports: this.#ports }));
    this.#ports.ledger.settle(call.current.id, failure(isOnlyTurnAborted(turn.signal) ? "cancelled" : "not_run", why));
    return { content: why, isError: true };
  }

  /**
   * Completes a call that an earlier worker left open, under the same id:
   *
   * - A call that has ended keeps its outcome.
   * - A call that waits for permission to start keeps waiting.
   * - A `pending` call was never started, because `running` is stored first. It runs as a new call if its tool is
   *   idempotent; otherwise it is refused.
   * - A call that was sent to a client is sent again, with the remaining time.
   * - A call that ran on the server runs again if its tool is idempotent. Otherwise it ends as "outcome unknown".
   *
   * @param stored the call as it was recorded; absent if it was never stored, and so never started
   */
  async resume(use: ToolUse, turn: CallTurn, stored: Call | undefined): Promise<ModelAnswer> {
    const ports = this.#ports;
    const found = this.#find(use, turn);
    if (stored?.outcome) return toCallAnswer(stored, stored.outcome, ports.settings.resultMaxBytes);
    if (stored?.state === "pending" && stored.hasStoredPermission) return this.#waitOn(stored, found, turn);
    // The call was never started. A tool with effects may run only if the model's message is complete, and it is
    // unknown whether this message was complete.
    if (!stored || stored.state === "pending") {
      if (!found?.idempotent) return this.refuse(use, turn, { why: NOT_STARTED, stored });
      return this.run(use, turn, stored);
    }
    const tool = found ?? { idempotent: false };
    const input = found ? parsed(found, stored.editedInput ?? use.input) : use.input;
    // A client runs the tool only once per call id, so asking again is always safe.
    const identity = stored.addressee;
    if (identity !== undefined && stored.executionResolved !== "server") {
      // If it is not certain that the client has the tool, the server may still run it.
      const isKnown = stored.executionResolved === "client";
      const route = isKnown ? ({ to: "client", identity } as const) : { ...UNANNOUNCED, identity };
      return this.#follow(stored, turn, (call) => runOnClient(call, { tool, input, ports, route, wasRequested: true }));
    }
    // The permission requests of the earlier run are void; a new run asks again.
    if (stored.hasStoredPermission) await ports.questions.withdraw(stored);
    if (found?.run && found.idempotent) {
      const fresh = { ...stored, startedAt: undefined, deadlineAt: undefined };
      return this.#follow(fresh, turn, (call) => runOnServer(call, { tool: found, input, ports }));
    }
    ports.ledger.open(stored);
    ports.ledger.settle(stored.id, failure("outcome_unknown", ENDED_WITH_WORKER));
    return { content: ENDED_WITH_WORKER, isError: true };
  }

  #find(use: ToolUse, turn: CallTurn): FoundTool | undefined {
    return findTool(use.toolName, this.#ports.serverTools, this.#ports.clients.hosts(turn.participant));
  }

  /**
   * Opens a call, starts it as soon as it may start, and waits until the call or its turn ends. For a background call,
   * waits only until it has begun. The call is stored before it runs: as pending and then as running, or in one
   * statement if nothing happens in between. If the call has changed the session's state, its outcome is returned only
   * once both are stored. Otherwise, the model's result could be stored without the change.
   *
   * @throws the record's error if the call could not be stored
   */
  async #follow(call: Call, turn: CallTurn, start: Start): Promise<ModelAnswer> {
    const { ledger, settings, session, state } = this.#ports;
    const open = ledger.open(call);
    const toAnswer = (outcome: Outcome) => toCallAnswer(open.current, outcome, settings.resultMaxBytes);
    const detached = watchTurn(open, turn.signal, this.#ports);
    let unstored: NotStored | undefined;
    const startIt = async () => {
      try {
        const mayStart = open.signal.aborted ? undefined : session.untilMayStart(open, turn);
        if (mayStart) await mayStart;
        if (!open.signal.aborted) await start(open);
      } catch (error) {
        if (error instanceof NotStored) unstored = error;
        this.#fail(open, error);
      }
    };
    void startIt();
    const begun = call.isBackground ? [open.begun] : [];
    const end = await Promise.race([open.settled, detached, ...begun]);
    if (unstored) throw unstored.cause;
    if (typeof end === "object") {
      await state.untilStored(call.id);
      return toAnswer(end);
    }
    void open.settled.then(async (late) => {
      // The recorder reports a change that could not be stored.
      await state.untilStored(call.id)?.catch(() => {});
      session.onLateOutcome(open.current, toAnswer(late));
    });
    return { content: end === "begun" ? backgroundReceipt(call.id) : end, isError: false };
  }

  /** Settles the call as failed after an error while starting it. */
  #fail(open: OpenCall, error: unknown): void {
    const why = messageOf(error);
    if (open.current.state === "pending") this.#refuse(open, "execution_error", why);
    else this.#ports.ledger.settle(open.current.id, failure("execution_error", why));
  }

  #refuse(call: OpenCall, ...why: Parameters<typeof failure>): undefined {
    refuseOpenCall(call, this.#ports, why);
  }

  /** Waits for the approver, who may already have answered. The call itself was never started. */
  #waitOn(stored: Call, tool: FoundTool | undefined, turn: CallTurn): Promise<ModelAnswer> {
    return this.#follow(stored, turn, (call) => {
      const checked = this.#check(call, tool);
      return checked && this.#dispatchIfPermitted(call, { ...checked, turn });
    });
  }

  /** Checks the call, then settles it or passes it on. */
  #start(call: OpenCall, found: FoundTool | undefined, turn: CallTurn): Promise<void> | undefined {
    const { ledger } = this.#ports;
    const checked = this.#check(call, found);
    if (!checked) return undefined;
    const { tool } = checked;
    const earlier = ledger.earlierOf(call.current);
    if (earlier && tool.onDuplicate === "reject")
      return this.#refuse(call, "execution_error", "Not run: the same call was already made in this turn");
    if (earlier) {
      ledger.begin(call.current.id);
      return earlier.then((outcome) => endUnstartedCall(call, this.#ports, outcome));
    }
    return this.#dispatchIfPermitted(call, { ...checked, turn });
  }

  /** Returns the tool and the parsed arguments. Refuses a call of an unknown tool or with invalid arguments. */
  #check(call: OpenCall, tool: FoundTool | undefined): Pick<Checked, "tool" | "input"> | undefined {
    const { toolName, input: given } = call.current;
    if (!tool) return this.#refuse(call, "unknown_tool", `Tool '${toolName}' not found`);
    const input = tryParse(tool.input, given);
    if ("error" in input) return this.#refuse(call, "invalid_parameters", input.error);
    return { tool, input: input.value };
  }

  /** Passes the call on, after asking for permission if required, or refuses it. */
  #dispatchIfPermitted(call: OpenCall, checked: Checked): Promise<void> | undefined {
    const { tool, input, turn } = checked;
    const route = routeCall(tool, this.#ports.clients.hosts(turn.participant));
    const approver = "identity" in route ? route.identity : turn.participant;
    const need = permissionNeed(tool, input);
    const permit = this.#ports.questions.permit(call, { ...need, approver }, turn);
    if (permit instanceof Promise) return this.#whenAnswered(call, permit, { ...checked, need });
    if (permit.isAllowed) return this.#dispatch(call, { ...checked, need });
    return this.#refuse(call, "permission_denied", `Not run: ${permit.why}`);
  }

  async #whenAnswered(call: OpenCall, asked: Promise<Permit>, judged: Judged): Promise<void> {
    const { ledger } = this.#ports;
    const { tool } = judged;
    const { id } = call.current;
    ledger.setWaiting(id, true);
    const permit = await asked;
    ledger.setWaiting(id, false);
    if (!permit.isAllowed) return this.#refuse(call, "permission_denied", `Not run: ${permit.why}`);
    const { editedInput, approver } = permit;
    const edited = editedInput && tryParse(tool.input, editedInput);
    if (edited && "error" in edited) {
      const why = `The arguments edited by the participant cannot be used: ${edited.error}`;
      return this.#refuse(call, "invalid_parameters", why);
    }
    // The rules checked the original arguments. Edited ones must not do what a rule denies.
    const need = edited ? permissionNeed(tool, edited.value) : judged.need;
    const denied = edited && this.#ports.questions.denialOf(call.current, need);
    if (denied !== undefined) return this.#refuse(call, "permission_denied", `Not run: ${denied}`);
    if (editedInput) ledger.update(id, { editedInput });
    await this.#dispatch(call, edited ? { ...judged, input: edited.value, need } : judged, approver);
  }

  /**
   * Passes a permitted call to the server or a client. Finds the route again, because devices may have come and gone
   * while the approver was asked, and only the approver's own device may run the call.
   */
  #dispatch(call: OpenCall, { tool, input, turn, need }: Judged, approver?: string): Promise<void> | undefined {
    const ports = this.#ports;
    const isOwn = approver === undefined || approver === turn.participant;
    const hosts = ports.clients.hosts(turn.participant).filter(({ identity }) => identity === (approver ?? identity));
    const run = { tool: isOwn ? tool : onDeviceOnly(tool), input, ports, permitted: need.values };
    const route = routeCall(run.tool, hosts);
    if (route.to === "server") return runOnServer(call, run);
    if (route.to !== "nobody") return runOnClient(call, { ...run, route, wasRequested: false });
    return this.#refuse(call, "unknown_tool", `Tool '${tool.name}' is not available on any connected device`);
  }
}

/** When the turn is aborted, cancels the call, or lets it continue without the turn and resolves with its receipt. */
function watchTurn(call: OpenCall, signal: AbortSignal, ports: CallPorts): Promise<string> {
  const detached = Promise.withResolvers<string>();
  const onAbort = () => {
    const kind = signal.reason instanceof TurnAbort ? signal.reason.kind : "closed";
    const { id, state, onInterrupt, isBackground } = call.current;
    const mayGoOn = call.mayHaveRun && state === "running";
    // A `passed_over` turn ended only because another participant was waiting. Its own participant still wants the
    // outcome.
    const isWanted = kind === "passed_over" || onInterrupt !== "cancel" || isBackground;
    const isKept = call.isWaiting || (mayGoOn && isWanted);
    if (kind === "stopped" || kind === "closed" || !isKept)
      return cancelCall(call, kind === "closed" ? "closed" : "interrupted", ports);
    if (!isBackground) ports.ledger.update(id, { isBackground: true });
    const waiting = state === "running" ? RECEIPTS.asking : RECEIPTS.toStart;
    detached.resolve(call.isWaiting ? waiting : RECEIPTS.running);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  void call.settled.then(() => signal.removeEventListener("abort", onAbort));
  return detached.promise;
}

function onDeviceOnly({ run: _onServer, ...tool }: FoundTool): FoundTool {
  return { ...tool, execution: "client" };
}

/**
 * Returns an error text if storing or sending the arguments would change them. Arguments from a model were already
 * checked when they arrived.
 */
function faultOf(input: JsonObject): string | undefined {
  const read = readExactJson(input, "input");
  return "fault" in read ? `Invalid parameters: ${read.fault}` : undefined;
}

/**
 * Returns the parsed arguments. They were valid before the call started; if the schema has changed since and rejects
 * them, they are used as they are.
 */
function parsed(tool: FoundTool, input: unknown): unknown {
  const checked = tryParse(tool.input, input);
  return "error" in checked ? input : checked.value;
}

function newCall(
  use: ToolUse,
  turn: CallTurn,
  { tool, ports }: { tool: FoundTool | undefined; ports: Pick<CallPorts, "settings"> },
): Call {
  // If cleaning changes the arguments, the call is refused.
  const input = cleanJson(use.input) as JsonObject;
  const canonical = `${turn.turnId}\n${use.toolName}\n${canonicalize(input)}`;
  const { defaultTimeoutMs, toolDetail } = ports.settings;
  const shown = Object.hasOwn(toolDetail, use.toolName) ? toolDetail[use.toolName] : undefined;
  return {
    id: createId(),
    toolUseId: use.toolUseId,
    turnId: turn.turnId,
    messageId: turn.messageId,
    participant: turn.participant,
    toolName: use.toolName,
    mcpServer: tool?.mcpServer,
    input,
    timeoutMs: tool?.timeoutMs ?? defaultTimeoutMs,
    executionAsked: tool?.execution ?? "server",
    idempotencyKey: createHash("sha256").update(canonical).digest("base64url"),
    onInterrupt: tool?.onInterrupt ?? "cancel",
    isBackground: tool?.pacing.isBackground ?? false,
    ...INITIAL_CALL_STATE,
    detail: shown ?? tool?.stateDetail ?? "full",
  };
}
