/**
 * Settles like `promise`, or rejects with the signal's reason as soon as the signal aborts. Leaves no listener on the
 * signal. An abort does not stop `promise`; if it rejects later, that rejection is ignored.
 */
export async function abortable<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  if (signal.aborted) {
    void unawaited(promise);
    throw signal.reason;
  }
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Returns the same promise, and marks its rejection as handled. */
export function unawaited<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => {});
  return promise;
}
