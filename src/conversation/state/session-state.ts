import type { JsonObject } from "../../lib/json.ts";

/**
 * The fields of a session's state. Empty until you declare yours, which makes `session.get()`, `session.update()` and
 * the instructions' `state` typed:
 *
 * @example
 * export const orderState = z.object({ order: z.array(z.string()).default([]) });
 *
 * declare module "parley" {
 *   interface SessionState extends z.output<typeof orderState> {}
 * }
 */
export interface SessionState {}

/** A session's state: the fields of `SessionState`, or any JSON object if no fields are declared. */
export type State = keyof SessionState extends never ? JsonObject : SessionState;

/** Reads and changes a session's state. */
export interface StateAccess {
  /** Returns the current state. It is frozen: change it with `set` or `update`. */
  readonly get: () => State;
  /**
   * Replaces the state.
   *
   * @throws {TypeError} if the state does not match the config's schema `state`, is not JSON or is larger than 64 kB
   */
  readonly set: (state: State) => void;
  /**
   * Changes the state. `change` receives a copy, and either changes that copy or returns a new state. It may be called
   * again with a newer state, so it must not do anything else.
   *
   * @throws {TypeError} like `set`; whatever `change` throws
   */
  readonly update: (change: StateUpdate) => void;
}

/** Changes the copy of the state that it receives, or returns a new state. */
export type StateUpdate = (state: State) => State | void;
