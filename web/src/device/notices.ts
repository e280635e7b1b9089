import { useSyncExternalStore } from "react";

/** A short text that a tool shows on this page, until it is closed. */
interface Notice {
  readonly id: number;
  readonly message: string;
}

const listeners = new Set<() => void>();
let notices: readonly Notice[] = [];
let count = 0;

export function useNotices(): readonly Notice[] {
  return useSyncExternalStore(subscribe, () => notices);
}

export function showNotice(message: string): void {
  set([...notices, { id: ++count, message }]);
}

export function closeNotice(id: number): void {
  set(notices.filter((notice) => notice.id !== id));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function set(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}
