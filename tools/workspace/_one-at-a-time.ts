import PQueue from "p-queue";

const queue = new PQueue({ concurrency: 1 });

/** Runs changes of files one after another: two edits of one file that the model asks for at once both count. */
export async function oneAtATime<Value>(change: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
  return queue.add(async () => {
    signal.throwIfAborted();
    return change();
  });
}
