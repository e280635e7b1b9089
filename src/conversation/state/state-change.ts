import type { JsonObject, JsonValue } from "../../lib/json.ts";

/** The changed fields of a session's state. `before` is absent if the field was added, `after` if it was removed. */
export type FieldChanges = Readonly<Record<string, { readonly before?: JsonValue; readonly after?: JsonValue }>>;

/** A change of a session's state, by a call or by a hook. */
export interface StateChange {
  /** The number of the change in its session, starting at 1. */
  readonly version: number;
  /** The whole state after the change. */
  readonly state: JsonObject;
  readonly fields: FieldChanges;
  /** The turn whose call or hook made the change; `null` for the hook `onSessionStart`. */
  readonly turnId: string | null;
}

/** What replacing turns undoes: the changes of these turns up to a version. */
export interface StateUndo {
  /** The fields to restore, with their value before the first undone change as `before`. */
  readonly fields: FieldChanges;
  /** Later changes are not undone: they were made by calls that outlived their turn. */
  readonly until: number;
}

/** Compares two states field by field. */
export function changedFields(before: JsonObject, after: JsonObject): FieldChanges {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changes = [...names].flatMap((name) => {
    const had = Object.hasOwn(before, name) ? { before: before[name] as JsonValue } : {};
    const has = Object.hasOwn(after, name) ? { after: after[name] as JsonValue } : {};
    return JSON.stringify(had.before) === JSON.stringify(has.after) ? [] : [[name, { ...had, ...has }] as const];
  });
  return Object.fromEntries(changes);
}

/** Sets the changed fields to their value before or after the change. All other fields stay as they are. */
export function setFields(state: JsonObject, changes: FieldChanges, side: "before" | "after"): JsonObject {
  const kept = Object.entries(state).filter(([name]) => !Object.hasOwn(changes, name));
  const set = Object.entries(changes).flatMap(([name, { [side]: value }]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return Object.fromEntries([...kept, ...set]);
}
