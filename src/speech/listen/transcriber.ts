import { once } from "node:events";
import { Worker } from "node:worker_threads";
import PQueue from "p-queue";
import { moduleBeside } from "../../lib/module-beside.ts";
import type { Answered, Asked } from "./moonshine-thread.ts";

const THREAD = moduleBeside(import.meta.url, "moonshine-thread");
/** A piece of 15 s takes 0.6 s on an idle core. A thread that needs this long hangs. */
const ANSWERS_WITHIN_MS = 5_000;
const LOADS_WITHIN_MS = 60_000;
/** Each session waits for one utterance at a time, so the queue is only this long when the machine cannot keep up. */
const MAX_WAITING = 20;

/**
 * Transcribes sound in one thread for all sessions of a process: the models need some 450 MB. Pieces wait in the order in
 * which they came. A thread that hangs or dies costs the piece that it worked on, and the next one starts another thread.
 */
export class Transcriber {
  readonly #folder: string;
  readonly #queue = new PQueue({ concurrency: 1 });
  #thread: Promise<Worker> | undefined;

  /** @param folder where `fetchSpeechFiles` has put its parts */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Loads the models, so that the first utterance does not wait for them. Rejects when they cannot be loaded. */
  async warm(): Promise<void> {
    await (this.#thread ??= this.#start());
  }

  /**
   * Resolves to the words, "" if there are none.
   *
   * @param samples of at most 15 s; they belong to the thread from now on
   * @throws when the model cannot be loaded or hangs, when more than 20 pieces wait, and with the signal's reason
   */
  async transcribe(samples: Float32Array, signal?: AbortSignal): Promise<string> {
    if (this.#queue.size >= MAX_WAITING) throw new Error(`The embedded recognizer is busy: ${MAX_WAITING} pieces wait`);
    return this.#queue.add(() => this.#run(samples), { ...(signal && { signal }) });
  }

  async close(): Promise<void> {
    this.#queue.clear();
    await (await this.#thread?.catch(() => undefined))?.terminate();
  }

  async #run(samples: Float32Array): Promise<string> {
    await this.warm();
    const thread = await this.#thread;
    if (!thread) throw new Error("The embedded recognizer is closed");
    let answer: Answered;
    try {
      const answered = nextAnswer(thread, ANSWERS_WITHIN_MS);
      thread.postMessage({ samples } satisfies Asked, [samples.buffer as ArrayBuffer]);
      answer = await answered;
    } catch (error) {
      this.#thread = undefined;
      await thread.terminate();
      throw error;
    }
    if ("error" in answer) throw new Error(`The embedded recognizer failed: ${answer.error}`);
    return answer.text;
  }

  async #start(): Promise<Worker> {
    const thread = new Worker(THREAD, { workerData: this.#folder });
    thread.unref();
    try {
      await nextAnswer(thread, LOADS_WITHIN_MS);
      // Between two pieces nobody waits for it.
      thread.on("error", () => {});
      thread.once("exit", () => (this.#thread = undefined));
      return thread;
    } catch (error) {
      this.#thread = undefined;
      await thread.terminate();
      throw error;
    }
  }
}

/** @throws when the thread dies or does not answer in time */
async function nextAnswer(thread: Worker, withinMs: number): Promise<Answered> {
  const over = new AbortController();
  const { signal } = over;
  const late = AbortSignal.timeout(withinMs);
  try {
    const died = once(thread, "exit", { signal }).then(() => {
      throw new Error("The thread of the embedded recognizer has died");
    });
    const answers = once(thread, "message", { signal: AbortSignal.any([signal, late]) });
    const [answer] = (await Promise.race([answers, died])) as [Answered];
    return answer;
  } catch (error) {
    if (late.aborted)
      throw new Error(`The embedded recognizer has not answered within ${withinMs} ms`, { cause: error });
    throw error;
  } finally {
    over.abort();
  }
}
