import type { Call } from "../../conversation/call.ts";
import { unawaited } from "../../lib/abortable.ts";
import type { CallState } from "../../tool/calls/call-ports.ts";
import type { Recorder } from "../record/recorder.ts";
import type { LiveState } from "./live-state.ts";

interface CallChangesOptions {
  readonly state: LiveState;
  readonly recorder: Pick<Recorder, "onSettled" | "durable">;
}

/** Applies what calls change of the session's state, and stores it together with their ends. */
export class CallChanges implements CallState {
  readonly accessOf: CallState["accessOf"];
  readonly check: CallState["check"];
  readonly #options: CallChangesOptions;
  /** Resolves when a call's change is stored, by call id. */
  readonly #stored = new Map<string, Promise<void>>();

  constructor(options: CallChangesOptions) {
    const { state } = options;
    this.#options = options;
    this.accessOf = (call) => state.accessOf(call);
    this.check = (callId) => state.check(callId);
  }

  /** Stores the end of a call, and its changes if it has succeeded. */
  storeEnd(call: Call): void {
    const { state, recorder } = this.#options;
    const change = state.settle(call);
    recorder.onSettled(call, change);
    if (change) this.#stored.set(call.id, unawaited(recorder.durable(call.id)));
  }

  readonly untilStored: CallState["untilStored"] = (callId) => {
    const stored = this.#stored.get(callId);
    this.#stored.delete(callId);
    return stored;
  };
}
