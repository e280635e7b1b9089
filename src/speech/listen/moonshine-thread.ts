import { parentPort, workerData } from "node:worker_threads";
import { Moonshine } from "./moonshine.ts";

/** A piece of sound to be transcribed. */
export interface Asked {
  readonly samples: Float32Array;
}

export type Answered = { readonly text: string } | { readonly error: string };

/** A thread of its own, because the model blocks it while it works. */
const moonshine = await Moonshine.load(String(workerData));
parentPort?.on("message", ({ samples }: Asked) => {
  moonshine.transcribe(samples).then(
    (text) => parentPort?.postMessage({ text } satisfies Answered),
    (error: unknown) => parentPort?.postMessage({ error: String(error) } satisfies Answered),
  );
});
parentPort?.postMessage({ text: "" } satisfies Answered);
