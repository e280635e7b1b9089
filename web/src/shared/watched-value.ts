import { useSyncExternalStore } from "react";

interface WatchedValue<Value> {
  readonly get: () => Value;
  readonly set: (value: Value) => void;
  /** Returns the value. Components re-render when it changes. */
  readonly use: () => Value;
}

/** Creates a global value for the page, outside React. */
export function watchedValue<Value>(first: Value): WatchedValue<Value> {
  const listeners = new Set<() => void>();
  let value = first;
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const get = () => value;
  const set = (next: Value) => {
    value = next;
    for (const listener of listeners) listener();
  };
  return { get, set, use: () => useSyncExternalStore(subscribe, get) };
}
