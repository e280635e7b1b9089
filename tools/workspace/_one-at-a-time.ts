import PQueue from "p-queue";

const queue = new PQueue({ concurrency: 1 });

/** Runs file changes one after another, so that two simultaneous edits of one file both take effect. */
export async function oneAtATime<Value>(change: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
  return queue.add(async () => {
    signal.throwIfAborted();
    return change();
  });
}
