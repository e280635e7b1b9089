/** The same promise, whose rejection does no harm when nobody waits for it. */
export function unawaited<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => {});
  return promise;
}
