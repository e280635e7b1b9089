import { z } from "zod";
import type { State, StateAccess, StateUpdate } from "../../conversation/state/session-state.ts";
import { readJson } from "../../lib/clean-json.ts";
import { isRecord, type JsonObject } from "../../lib/json.ts";

/** The maximum size of a session's state, as JSON. */
const MAX_STATE_BYTES = 65_536;

/**
 * Returns the state as it is stored, frozen.
 *
 * @throws {TypeError} naming the first field that does not match the schema, never its value; if the state is not a JSON
 *   object or is too large
 */
export function parseState(state: unknown, schema: z.ZodType | undefined): JsonObject {
  const given = toJsonObject(state);
  const parsed = schema?.safeParse(given);
  if (parsed?.success === false) throw new TypeError(`session state: ${describe(parsed.error.issues[0])}`);
  const value = parsed ? toJsonObject(parsed.data) : given;
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes > MAX_STATE_BYTES) throw new TypeError(`session state: ${bytes} bytes of JSON, at most ${MAX_STATE_BYTES}`);
  return deepFreeze(value);
}

/** Returns the updated state. @throws {TypeError} like `parseState`; whatever `update` throws */
export function updatedState(state: JsonObject, update: StateUpdate, schema: z.ZodType | undefined): JsonObject {
  const copy = structuredClone(state) as State;
  return parseState(update(copy) ?? copy, schema);
}

/** Completes a session's state with `set`, which is an update that ignores the earlier state. */
export function createStateAccess(get: () => JsonObject, update: (change: StateUpdate) => void): StateAccess {
  return {
    get: () => get() as State,
    set: (state) => {
      const copy = structuredClone(state);
      update(() => copy);
    },
    update,
  };
}

function toJsonObject(state: unknown): JsonObject {
  const read = readJson(state, "session state");
  if ("fault" in read) throw new TypeError(read.fault);
  if (!isRecord(read.value)) throw new TypeError("session state: expected an object");
  return read.value as JsonObject;
}

function describe(issue: z.core.$ZodIssue | undefined): string {
  const place = z.core.toDotPath(issue?.path ?? []);
  return `${place && `${place}: `}${issue?.message ?? "is invalid"}`;
}

/** Freezes a value with everything in it. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const each of Object.values(value)) deepFreeze(each);
  return Object.freeze(value);
}
