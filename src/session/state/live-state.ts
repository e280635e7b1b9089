import type { Logger } from "pino";
import type { z } from "zod";
import type { Call } from "../../conversation/call.ts";
import type { State, StateAccess, StateUpdate } from "../../conversation/state/session-state.ts";
import { changedFields, setFields, type StateChange, type StateUndo } from "../../conversation/state/state-change.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { StoredState, Undone } from "../../store/sessions/session-state.ts";
import { createStateAccess, deepFreeze, parseState, updatedState } from "../../tool/state/update-state.ts";

interface LiveStateOptions {
  readonly stored: StoredState;
  /** The config's `state`. @defaultValue any JSON object */
  readonly schema?: z.ZodType | undefined;
  readonly logger: Pick<Logger, "warn">;
}

interface HookChanges {
  /** The turn whose replacement undoes the changes; `null` if none does. */
  readonly turnId: string | null;
  readonly signal: AbortSignal;
  readonly store: (change: StateChange) => void;
}

/** The updates of an open call, in order. */
interface Pending {
  updates: StateUpdate[];
  /** The state that the updates were last applied to, without this call's updates. */
  base: JsonObject;
  result: JsonObject;
}

/**
 * The state of a session on the worker that serves it. What a call changes takes effect when the call succeeds, all at
 * once. A call that fails, times out or is canceled changes nothing. Calls that run at the same time don't overwrite
 * each other's changes: the updates of a call are applied again to the state at its end.
 */
export class LiveState {
  readonly #schema: z.ZodType | undefined;
  #value: JsonObject;
  #version: number;
  /** The updates of open calls, by call id. */
  readonly #pending = new Map<string, Pending>();

  constructor({ stored, schema, logger }: LiveStateOptions) {
    this.#schema = schema;
    this.#version = stored.version;
    try {
      this.#value = parseState(stored.state ?? {}, schema);
    } catch (error) {
      logger.warn({ error }, "stored session state does not match the schema, initial state used");
      this.#value = parseState({}, schema);
    }
  }

  /** The current state, without the updates of open calls. */
  get value(): State {
    return this.#value as State;
  }

  /** Returns a call's access to the state. The call sees its own updates. */
  accessOf({ id, signal }: { readonly id: string; readonly signal: AbortSignal }): StateAccess {
    const pending: Pending = { updates: [], base: this.#value, result: this.#value };
    this.#pending.set(id, pending);
    return createStateAccess(
      () => this.#after(pending),
      (update) => {
        signal.throwIfAborted();
        pending.result = updatedState(this.#after(pending), update, this.#schema);
        pending.updates.push(update);
      },
    );
  }

  /**
   * Call this right before a call succeeds, which then applies its updates.
   *
   * @throws whatever an update throws when it is applied to the current state
   */
  check(callId: string): void {
    const pending = this.#pending.get(callId);
    if (pending) this.#after(pending);
  }

  /** Applies the updates of a call that has succeeded, and drops those of any other. Returns what changed. */
  settle({ id, turnId, state }: Pick<Call, "id" | "turnId" | "state">): StateChange | undefined {
    const pending = this.#pending.get(id);
    if (!pending) return undefined;
    this.#pending.delete(id);
    const change = state === "success" ? this.#change(this.#after(pending), turnId) : undefined;
    // The tool may still read the state.
    Object.assign(pending, { updates: [], base: this.#value, result: this.#value });
    return change;
  }

  /** Returns a hook's access to the state. Its updates take effect at once. */
  accessOfHook({ turnId, signal, store }: HookChanges): StateAccess {
    return createStateAccess(
      () => this.#value,
      (update) => {
        signal.throwIfAborted();
        const change = this.#change(updatedState(this.#value, update, this.#schema), turnId);
        if (change) store(change);
      },
    );
  }

  /** Undoes the changes of replaced turns. Returns the state to store. */
  undo({ fields, until }: StateUndo): Undone | undefined {
    if (Object.keys(fields).length === 0) return undefined;
    this.#value = deepFreeze(setFields(this.#value, fields, "before"));
    return { state: this.#value, version: this.#version, until };
  }

  /** Returns the current state with a call's updates. Applies them again if the state has changed since. */
  #after(pending: Pending): JsonObject {
    if (pending.base !== this.#value) {
      pending.result = pending.updates.reduce(
        (state, update) => updatedState(state, update, this.#schema),
        this.#value,
      );
      pending.base = this.#value;
    }
    return pending.result;
  }

  #change(state: JsonObject, turnId: string | null): StateChange | undefined {
    const fields = changedFields(this.#value, state);
    if (Object.keys(fields).length === 0) return undefined;
    this.#value = state;
    return { version: ++this.#version, state, fields, turnId };
  }
}
