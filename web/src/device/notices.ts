import { useSyncExternalStore } from "react";

/** A short text that a tool shows on this page, until it is closed. */
interface Notice {
  readonly id: number;
  readonly message: string;
}

/** A question of a tool, which waits for an answer of the person. */
interface Question {
  readonly id: number;
  readonly question: string;
  readonly choices: readonly string[];
  readonly answer: (text: string) => void;
}

interface Shown {
  readonly notices: readonly Notice[];
  readonly questions: readonly Question[];
}

const listeners = new Set<() => void>();
let shown: Shown = { notices: [], questions: [] };
let count = 0;

export function useShown(): Shown {
  return useSyncExternalStore(subscribe, () => shown);
}

export function showNotice(message: string): void {
  set({ ...shown, notices: [...shown.notices, { id: ++count, message }] });
}

export function closeNotice(id: number): void {
  set({ ...shown, notices: shown.notices.filter((notice) => notice.id !== id) });
}

/** Resolves with what the person answers; the question goes away when the signal aborts. */
export async function askPerson(question: string, choices: readonly string[], signal: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const id = ++count;
  const onAbort = () => reject(signal.reason as Error);
  signal.addEventListener("abort", onAbort, { once: true });
  set({ ...shown, questions: [...shown.questions, { id, question, choices, answer: resolve }] });
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", onAbort);
    set({ ...shown, questions: shown.questions.filter((each) => each.id !== id) });
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function set(next: Shown): void {
  shown = next;
  for (const listener of listeners) listener();
}
