/**
 * Settles with `promise`, or rejects with the signal's own reason as soon as it aborts. Leaves no listener on the
 * signal. After an abort `promise` itself goes on; if it rejects later, nothing happens.
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

/** The same promise, whose rejection does no harm when nobody waits for it. */
export function unawaited<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => {});
  return promise;
}
