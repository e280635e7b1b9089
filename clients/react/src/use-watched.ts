import { useSyncExternalStore } from "react";

/**
 * Returns the value of `read`, and re-renders after each change. In server-side rendering, returns the initial value.
 */
export function useWatched<Value>(subscribe: (onChange: () => void) => () => void, read: () => Value): Value {
  return useSyncExternalStore(subscribe, read, read);
}
