import { useSyncExternalStore } from "react";

/**
 * The value of `read`, again after each change. A server that renders the page gets the value before the talk begins.
 */
export function useWatched<Value>(subscribe: (onChange: () => void) => () => void, read: () => Value): Value {
  return useSyncExternalStore(subscribe, read, read);
}
