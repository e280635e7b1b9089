import { type Call, type ExtraAnswer, type Failure, type Outcome } from "../../conversation/call.ts";
import { keepNewest } from "../../lib/keep-newest.ts";
import { CallLog } from "./call-log.ts";
import { withShortError } from "../outcome.ts";
import { type ServerTool } from "../server-tool.ts";

/** What may change on an open call besides its outcome. */
type CallChange = Partial<
  Pick<Call, "state" | "editedInput" | "executionResolved" | "addressee" | "startedAt" | "deadlineAt" | "isBackground">
>;

/** What is known of the client that runs a call, short of its result. A `Failure` is its answer `unknown_tool`. */
export type ClientSignal = "claimed" | "declined" | "left" | "returned" | Failure;

/** A call that has not ended. */
export interface OpenCall {
  readonly current: Call;
  /** Resolves with the winning outcome; never rejects. */
  readonly settled: Promise<Outcome>;
  /** Resolves when somebody has begun to run it; never, if it ends before. */
  readonly begun: Promise<"begun">;
  /** Aborted when the call has ended, however it ended: whatever works for the call watches it. */
  readonly over: AbortSignal;
  /** A permission is waited for: to start it, or, while it runs, to go on. */
  readonly isWaiting: boolean;
}

interface Entry extends OpenCall {
  current: Call;
  readonly log: CallLog;
  readonly resolve: (outcome: Outcome) => void;
  readonly begin: (how: "begun") => void;
  readonly controller: AbortController;
  isWaiting: boolean;
  onClientSignal?: (signal: ClientSignal) => void;
}

/** Told of every change, in order; must not throw. */
export interface LedgerListener {
  readonly onOpened: (call: Call) => void;
  readonly onChanged: (call: Call) => void;
  /** It has logged something or come further. May come often. */
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
 * The one writer of every call's state in a session. All sources of an outcome (result, deadline, stop, disconnect,
 * denial) end in `settle`, which lets the first one win. What comes later changes nothing; a late answer is told to the
 * listener.
 */
export class CallLedger {
  readonly #open = new Map<string, Entry>();
  /** Calls that have ended, oldest first, so that a later answer is known for what it is. */
  readonly #ended = new Map<string, { readonly answeredBy: string | undefined }>();
  /** Of tools whose calls may not repeat one another: the first call of each idempotency key, for its turn. */
  readonly #firstOfKey = new Map<string, First>();
  readonly #listener: LedgerListener;
  readonly #tools: ReadonlyMap<string, Pick<ServerTool, "onDuplicate">>;

  /** @param tools say which calls may not repeat one another: of all others no outcome is kept */
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
      over: controller.signal,
      isWaiting: false,
    };
    this.#open.set(call.id, entry);
    this.recall(call, settled.promise);
    this.#listener.onOpened(entry.current);
    return entry;
  }

  /** Remembers the first call of a key, which may be an earlier worker's, where its tool may not repeat one. */
  recall({ id: callId, idempotencyKey, turnId, toolName }: Call, settled: Promise<Outcome>): void {
    const { onDuplicate = "allow" } = this.#tools.get(toolName) ?? {};
    if (onDuplicate === "allow" || this.#firstOfKey.has(idempotencyKey)) return;
    this.#firstOfKey.set(idempotencyKey, { callId, turnId, settled });
  }

  /** A turn begins: outcomes of turns that have no open call any more are not asked for again. */
  forgetPastTurns(): void {
    const open = new Set([...this.#open.values()].map(({ current }) => current.turnId));
    for (const [key, { turnId }] of this.#firstOfKey) if (!open.has(turnId)) this.#firstOfKey.delete(key);
  }

  /** The outcome of the call that this one repeats (same turn, tool and arguments), where it may not. */
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

  /** One handler a call: whoever waits for its client. */
  onClientSignal(callId: string, handler: (signal: ClientSignal) => void): void {
    const entry = this.#open.get(callId);
    if (entry) entry.onClientSignal = handler;
  }

  /** Passes on what is known of its client; `false` when the call is not open or another participant was asked. */
  signal(callId: string, from: string, signal: ClientSignal): boolean {
    const entry = this.#open.get(callId);
    if (entry?.current.addressee !== from) return false;
    entry.onClientSignal?.(signal);
    return true;
  }

  /** A participant left or came back: told to all calls that wait for it. */
  signalAll(from: string, signal: "left" | "returned"): void {
    for (const callId of this.#open.keys()) this.signal(callId, from, signal);
  }

  /** Ignored for a call that has ended. */
  update(callId: string, changes: CallChange): void {
    const entry = this.#open.get(callId);
    if (!entry) return;
    change(entry, changes);
    this.#listener.onChanged(entry.current);
    if (entry.current.state === "running") entry.begin("begun");
  }

  /** It counts as begun: the call that it repeats runs for it. */
  begin(callId: string): void {
    this.#open.get(callId)?.begin("begun");
  }

  /** What an open call says of itself: one or more lines for its log, and how far it is, brought into 0 to 1. */
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

  /** Ignored for a call that has ended. */
  setWaiting(callId: string, isWaiting: boolean): void {
    const entry = this.#open.get(callId);
    if (entry) entry.isWaiting = isWaiting;
  }

  /**
   * Ends an open call. `false`: it had ended before, and nothing has changed. `by` is the participant that answered.
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

  /** Settles with a participant's answer, if it is the one that was asked. What does not count is put on record. */
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

  /** Puts an answer that changes nothing on the call's record. */
  note(callId: string, kind: ExtraAnswer["kind"], { from, outcome }: { from: string; outcome: Outcome }): void {
    const short = withShortError(outcome);
    const errorCode = short.state === "success" ? {} : { errorCode: short.errorCode };
    this.#listener.onExtraAnswer(callId, { kind, from, success: short.state === "success", ...errorCode });
  }

  #remember(callId: string, answeredBy: string | undefined): void {
    this.#ended.set(callId, { answeredBy });
    keepNewest(this.#ended, REMEMBERED_CALLS);
  }
}

function change(entry: Entry, changes: Partial<Call>): void {
  entry.current = { ...entry.current, ...changes, revision: entry.current.revision + 1 };
}
