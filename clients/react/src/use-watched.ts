import { useSyncExternalStore } from "react";

/** What `read` gives, again after each change. A server that draws the page gets what holds before the talk begins. */
export function useWatched<Value>(subscribe: (onChange: () => void) => () => void, read: () => Value): Value {
  return useSyncExternalStore(subscribe, read, read);
}
