import { once } from "node:events";
import { Worker } from "node:worker_threads";
import PQueue from "p-queue";
import type { SpeechModel } from "./speech-model.ts";

/**
 * A message from the model's thread: the answer to a question or, without a value, the report that the model is loaded.
 */
export type Answered<Value> = { readonly value: Value } | { readonly error: string };

interface ModelThreadOptions {
  /** The thread's name in errors, such as "the embedded recognizer". */
  readonly name: string;
  /** The module that the thread runs. */
  readonly module: URL;
  readonly workerData: unknown;
}

/** How long an answer may take before the thread counts as stuck. An answer takes a second at most. */
const ANSWERS_WITHIN_MS = 5_000;
const LOADS_WITHIN_MS = 60_000;
/**
 * How many questions may be queued. Each session waits for one answer at a time, so the queue gets this long only if
 * the machine cannot keep up.
 */
const MAX_WAITING = 20;

/**
 * Runs a model in a separate thread, because a model blocks its thread while it works. All sessions in a process share
 * the thread, because models are large. Questions are answered one after another, in order. If the thread hangs or
 * dies, the current question fails, and the next question starts a new thread.
 */
export class ModelThread<Question, Value> implements SpeechModel<Question, Value> {
  readonly #options: ModelThreadOptions;
  readonly #queue = new PQueue({ concurrency: 1 });
  #thread: Promise<Worker> | undefined;
  #isClosed = false;

  constructor(options: ModelThreadOptions) {
    this.#options = options;
  }

  /** Loads the model, so that the first question does not wait for it. Rejects if it cannot be loaded. */
  async warm(): Promise<void> {
    await this.#running();
  }

  /**
   * Sends a question to the thread and resolves to its answer.
   *
   * @param signal cancels the question while it is queued; once the thread has received the question, `ask` waits for
   *   its answer, so that the next question does not get that answer
   * @throws if the model cannot be loaded, fails or hangs, if 20 questions are already queued, after `close`, and with
   *   the signal's reason when it aborts
   */
  async ask(question: Question, signal?: AbortSignal): Promise<Value> {
    const { name } = this.#options;
    if (this.#queue.size >= MAX_WAITING) throw new Error(`${name} is busy: ${MAX_WAITING} requests are waiting`);
    return this.#queue.add(async () => {
      signal?.throwIfAborted();
      return this.#run(question);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#queue.clear();
    await (await this.#thread?.catch(() => undefined))?.terminate();
  }

  async #run(question: Question): Promise<Value> {
    const thread = await this.#running();
    let answer: Answered<Value>;
    try {
      const answered = this.#nextAnswer(thread, ANSWERS_WITHIN_MS);
      thread.postMessage(question);
      answer = await answered;
    } catch (error) {
      await thread.terminate();
      throw error;
    }
    if ("error" in answer) throw new Error(`${this.#options.name} failed: ${answer.error}`);
    return answer.value;
  }

  #running(): Promise<Worker> {
    if (this.#isClosed) throw new Error(`${this.#options.name} is closed`);
    if (this.#thread) return this.#thread;
    const { module, workerData } = this.#options;
    const thread = new Worker(module, { workerData });
    thread.unref();
    const started = this.#started(thread);
    const forget = () => {
      if (this.#thread === started) this.#thread = undefined;
    };
    // Between questions, nothing else handles "error", and an unhandled error would end the process.
    thread.on("error", () => {});
    thread.once("exit", forget);
    return (this.#thread = started);
  }

  async #started(thread: Worker): Promise<Worker> {
    try {
      await this.#nextAnswer(thread, LOADS_WITHIN_MS);
      return thread;
    } catch (error) {
      await thread.terminate();
      throw error;
    }
  }

  /** @throws if the thread dies or does not answer in time */
  async #nextAnswer(thread: Worker, withinMs: number): Promise<Answered<Value>> {
    const { name } = this.#options;
    const over = new AbortController();
    const late = AbortSignal.timeout(withinMs);
    try {
      const died = once(thread, "exit", { signal: over.signal }).then(() => {
        throw new Error(`the worker thread of ${name} exited`);
      });
      const answers = once(thread, "message", { signal: AbortSignal.any([over.signal, late]) });
      const [answer] = (await Promise.race([answers, died])) as [Answered<Value>];
      return answer;
    } catch (error) {
      if (late.aborted) throw new Error(`${name} did not answer within ${withinMs} ms`, { cause: error });
      throw error;
    } finally {
      over.abort();
    }
  }
}
