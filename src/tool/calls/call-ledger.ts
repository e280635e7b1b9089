import type { Call, ExtraAnswer, Failure, Outcome, INITIAL_CALL_STATE } from "../../conversation/call.ts";
import { evictOldest } from "../../lib/evict-oldest.ts";
import { CallLog } from "./call-log.ts";
import { withShortError } from "../outcome.ts";
import type { ServerTool } from "../server-tool.ts";

/**
 * Call fields that `update` does not set. Other methods set them, except `hasStoredPermission`, which only the store
 * sets.
 */
type NotUpdated = "outcome" | "finishedAt" | "revision" | "logs" | "progress" | "hasStoredPermission";
type CallChange = Partial<Pick<Call, Exclude<keyof typeof INITIAL_CALL_STATE, NotUpdated> | "isBackground">>;

/** What a call's client did, other than sending a result. A `Failure` means that the client answered `unknown_tool`. */
export type ClientSignal = "claimed" | "declined" | "left" | "returned" | Failure;

/** A call that has not ended. */
export interface OpenCall {
  readonly current: Call;
  /** Resolves with the outcome that won. Never rejects. */
  readonly settled: Promise<Outcome>;
  /** Resolves when the call starts running. Stays pending if the call ends before that. */
  readonly begun: Promise<"begun">;
  /** Aborted when the call ends, for any reason. All work on behalf of the call listens to this signal. */
  readonly signal: AbortSignal;
  /** Whether the call is waiting for a participant: for permission to start, or for an answer while it runs. */
  readonly isWaiting: boolean;
  /**
   * Whether the call may have run: this worker or an earlier one stored it as running and passed it to its executor.
   */
  readonly mayHaveRun: boolean;
}

interface Entry extends OpenCall {
  current: Call;
  readonly log: CallLog;
  readonly resolve: (outcome: Outcome) => void;
  readonly begin: (how: "begun") => void;
  readonly controller: AbortController;
  isWaiting: boolean;
  mayHaveRun: boolean;
  onClientSignal?: (signal: ClientSignal) => void;
}

/** Notified of every change, in order. Must not throw. */
export interface LedgerListener {
  readonly onOpened: (call: Call) => void;
  readonly onChanged: (call: Call) => void;
  /** The call is stored as running and is being passed to its executor. */
  readonly onBegun: (call: Call) => void;
  /** The call has logged a line or made progress. May be called often. */
  readonly onProgress: (call: Call) => void;
  readonly onSettled: (call: Call) => void;
  readonly onExtraAnswer: (callId: string, answer: ExtraAnswer) => void;
}

interface First {
  readonly callId: string;
  readonly turnId: string;
  readonly settled: Promise<Outcome>;
}

const REMEMBERED_CALLS = 1_000;

/**
 * The only writer of the states of all calls in a session. All sources of an outcome (result, deadline, stop,
 * disconnect, denial) end in `settle`, where the first one wins. Later outcomes change nothing. Extra answers are
 * reported to the listener.
 */
export class CallLedger {
  readonly #open = new Map<string, Entry>();
  /** Calls that have ended, oldest first. Used to tell an extra answer from an answer to an unknown call. */
  readonly #ended = new Map<string, { readonly answeredBy: string | undefined }>();
  /** The first call with each idempotency key, for tools whose calls may not be repeated within a turn. */
  readonly #firstOfKey = new Map<string, First>();
  readonly #listener: LedgerListener;
  readonly #tools: ReadonlyMap<string, Pick<ServerTool, "onDuplicate">>;

  /** @param tools determine which calls may not be repeated; only the outcomes of those calls are remembered */
  constructor(listener: LedgerListener, tools: ReadonlyMap<string, Pick<ServerTool, "onDuplicate">>) {
    this.#listener = listener;
    this.#tools = tools;
  }

  get openCount(): number {
    return this.#open.size;
  }

  open(call: Call): OpenCall {
    if (this.#open.has(call.id)) throw new TypeError(`Call id "${call.id}" is already open`);
    const settled = Promise.withResolvers<Outcome>();
    const begun = Promise.withResolvers<"begun">();
    const controller = new AbortController();
    const entry: Entry = {
      current: { ...call, revision: call.revision + 1 },
      log: new CallLog(call.logs),
      settled: settled.promise,
      resolve: settled.resolve,
      begun: begun.promise,
      begin: begun.resolve,
      controller,
      signal: controller.signal,
      isWaiting: false,
      mayHaveRun: call.state === "running",
    };
    this.#open.set(call.id, entry);
    this.recall(call, settled.promise);
    this.#listener.onOpened(entry.current);
    return entry;
  }

  /**
   * Remembers a call if it is the first with its key and its tool forbids duplicates. Called for calls of earlier
   * workers, too.
   */
  recall({ id: callId, idempotencyKey, turnId, toolName }: Call, settled: Promise<Outcome>): void {
    const { onDuplicate = "allow" } = this.#tools.get(toolName) ?? {};
    if (onDuplicate === "allow" || this.#firstOfKey.has(idempotencyKey)) return;
    this.#firstOfKey.set(idempotencyKey, { callId, turnId, settled });
  }

  /**
   * Called when a turn starts. Forgets the first calls of turns that have no open calls, because they can no longer be
   * repeated.
   */
  forgetPastTurns(): void {
    const open = new Set([...this.#open.values()].map(({ current }) => current.turnId));
    for (const [key, { turnId }] of this.#firstOfKey) if (!open.has(turnId)) this.#firstOfKey.delete(key);
  }

  /** Returns the outcome of an earlier call with the same turn, tool and arguments, if this call must not repeat it. */
  earlierOf({ id, idempotencyKey }: Call): Promise<Outcome> | undefined {
    const first = this.#firstOfKey.get(idempotencyKey);
    return first && first.callId !== id ? first.settled : undefined;
  }

  find(callId: string): OpenCall | undefined {
    return this.#open.get(callId);
  }

  openCalls(): OpenCall[] {
    return [...this.#open.values()];
  }

  /** Sets the call's only handler of client signals. Ignored for a call that is not open. */
  onClientSignal(callId: string, handler: (signal: ClientSignal) => void): void {
    const entry = this.#open.get(callId);
    if (entry) entry.onClientSignal = handler;
  }

  /**
   * Passes a signal to the call's handler. Returns `false` if the call is not open or was sent to another participant.
   */
  signal(callId: string, from: string, signal: ClientSignal): boolean {
    const entry = this.#open.get(callId);
    if (entry?.current.addressee !== from) return false;
    entry.onClientSignal?.(signal);
    return true;
  }

  /** Passes the signal to all calls that were sent to this participant. */
  signalAll(from: string, signal: "left" | "returned"): void {
    for (const callId of this.#open.keys()) this.signal(callId, from, signal);
  }

  /** Changes fields of a call. Does nothing if the call has ended. */
  update(callId: string, changes: CallChange): void {
    const entry = this.#open.get(callId);
    if (!entry) return;
    change(entry, changes);
    this.#listener.onChanged(entry.current);
  }

  /** Marks a duplicate call as begun. The duplicate does not run itself, but waits for the call that it repeats. */
  begin(callId: string): void {
    this.#open.get(callId)?.begin("begun");
  }

  /** Adds lines (separated by line breaks) to the call's log, and sets its progress, clamped to the range 0 to 1. */
  report(callId: string, { log, progress }: { readonly log?: string; readonly progress?: number }): void {
    const entry = this.#open.get(callId);
    if (!entry) return;
    const fraction = Math.min(1, Math.max(0, progress ?? Number.NaN));
    const isFurther = !Number.isNaN(fraction) && fraction !== entry.current.progress;
    const hasLogged = log !== undefined && entry.log.add(log);
    if (!isFurther && !hasLogged) return;
    change(entry, { logs: entry.log.lines, ...(isFurther && { progress: fraction }) });
    this.#listener.onProgress(entry.current);
  }

  /** Records that the call has been stored as running and now starts. Ignored for a call that has ended. */
  markStarted(callId: string): void {
    const entry = this.#open.get(callId);
    if (!entry) return;
    entry.mayHaveRun = true;
    this.#listener.onBegun(entry.current);
    entry.begin("begun");
  }

  /** Sets whether the call is waiting for a participant. Does nothing if the call has ended. */
  setWaiting(callId: string, isWaiting: boolean): void {
    const entry = this.#open.get(callId);
    if (entry) entry.isWaiting = isWaiting;
  }

  /**
   * Ends an open call. Returns `false` and changes nothing if the call has already ended. `by` is the participant that
   * answered.
   */
  settle(callId: string, ended: Outcome, by?: string): boolean {
    const entry = this.#open.get(callId);
    if (!entry) return false;
    const outcome = withShortError(ended);
    this.#open.delete(callId);
    this.#remember(callId, by);
    change(entry, { state: outcome.state, outcome, finishedAt: Date.now() });
    this.#listener.onSettled(entry.current);
    entry.resolve(outcome);
    entry.controller.abort(new Error(`The call has ended: ${outcome.state}`));
    return true;
  }

  /** Settles the call with its addressee's answer. Any other answer is recorded and changes nothing. */
  answer(callId: string, outcome: Outcome, from: string): "won" | "unknown" | ExtraAnswer["kind"] {
    const entry = this.#open.get(callId);
    if (entry?.current.addressee === from) {
      if (!entry.current.executionResolved) this.update(callId, { executionResolved: "client" });
      this.settle(callId, outcome, from);
      return "won";
    }
    const ended = this.#ended.get(callId);
    if (!entry && !ended) return "unknown";
    const lateKind = ended?.answeredBy === from ? "duplicate" : "late";
    const kind = entry && entry.current.addressee !== undefined ? "wrong_participant" : lateKind;
    this.note(callId, kind, { from, outcome });
    return kind;
  }

  /** Records an answer that does not change the call. */
  note(callId: string, kind: ExtraAnswer["kind"], { from, outcome }: { from: string; outcome: Outcome }): void {
    const short = withShortError(outcome);
    const errorCode = short.state === "success" ? {} : { errorCode: short.errorCode };
    this.#listener.onExtraAnswer(callId, { kind, from, success: short.state === "success", ...errorCode });
  }

  #remember(callId: string, answeredBy: string | undefined): void {
    this.#ended.set(callId, { answeredBy });
    evictOldest(this.#ended, REMEMBERED_CALLS);
  }
}

function change(entry: Entry, changes: Partial<Call>): void {
  entry.current = { ...entry.current, ...changes, revision: entry.current.revision + 1 };
}
