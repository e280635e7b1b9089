import { useSyncExternalStore } from "react";
import type { Folder } from "./folder.ts";

const listeners = new Set<() => void>();
let shared: Folder | undefined;

/** The folder that the person shares. It ends with the page: a browser asks anew after a reload. */
export function useSharedFolder(): Folder | undefined {
  return useSyncExternalStore(subscribe, () => shared);
}

export function shareFolder(folder: Folder | undefined): void {
  shared = folder;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
