import { abortable } from "./abortable.ts";

/** Resolves after `ms`; rejects with the signal's own reason as soon as it aborts, and leaves no timer behind. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    await abortable(promise, signal);
  } finally {
    clearTimeout(timer);
  }
}
