import { once } from "node:events";
import { Worker } from "node:worker_threads";
import PQueue from "p-queue";

/** What a model's thread sends: one for each question, and one with no value when its model is loaded. */
export type Answered<Value> = { readonly value: Value } | { readonly error: string };

interface ModelThreadOptions {
  /** Of the thread, for errors: "the embedded recognizer". */
  readonly name: string;
  /** Its module. */
  readonly module: URL;
  readonly workerData: unknown;
}

/** An answer takes a second at most. A thread that needs this long hangs. */
const ANSWERS_WITHIN_MS = 5_000;
const LOADS_WITHIN_MS = 60_000;
/** Each session waits for one answer at a time, so the queue is only this long when the machine cannot keep up. */
const MAX_WAITING = 20;

/**
 * A model in a thread of its own, because it blocks the thread while it works: one for all sessions of a process, as the
 * models are large. Questions are answered one after another, in the order in which they came. A thread that hangs or
 * dies costs the question that it worked on, and the next one starts another thread.
 */
export class ModelThread<Question, Value> {
  readonly #options: ModelThreadOptions;
  readonly #queue = new PQueue({ concurrency: 1 });
  #thread: Promise<Worker> | undefined;
  #isClosed = false;

  constructor(options: ModelThreadOptions) {
    this.#options = options;
  }

  /** Loads the model, so that the first question does not wait for it. Rejects when it cannot be loaded. */
  async warm(): Promise<void> {
    await this.#running();
  }

  /**
   * @param given buffers of the question that belong to the thread from now on
   * @param signal a question that still waits is not asked after it. Once asked, its answer is waited for: the next question
   *   must not get it
   * @throws when the model cannot be loaded, fails or hangs, when more than 20 questions wait, after `close`, and with the
   *   signal's reason
   */
  async ask(question: Question, given: readonly ArrayBuffer[] = [], signal?: AbortSignal): Promise<Value> {
    const { name } = this.#options;
    if (this.#queue.size >= MAX_WAITING) throw new Error(`${name} is busy: ${MAX_WAITING} requests wait`);
    return this.#queue.add(async () => {
      signal?.throwIfAborted();
      return this.#run(question, given);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#queue.clear();
    await (await this.#thread?.catch(() => undefined))?.terminate();
  }

  async #run(question: Question, given: readonly ArrayBuffer[]): Promise<Value> {
    const thread = await this.#running();
    let answer: Answered<Value>;
    try {
      const answered = this.#nextAnswer(thread, ANSWERS_WITHIN_MS);
      thread.postMessage(question, given);
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
    // Between two questions nobody waits for it.
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

  /** @throws when the thread dies, or does not answer in time */
  async #nextAnswer(thread: Worker, withinMs: number): Promise<Answered<Value>> {
    const { name } = this.#options;
    const over = new AbortController();
    const late = AbortSignal.timeout(withinMs);
    try {
      const died = once(thread, "exit", { signal: over.signal }).then(() => {
        throw new Error(`the thread of ${name} has died`);
      });
      const answers = once(thread, "message", { signal: AbortSignal.any([over.signal, late]) });
      const [answer] = (await Promise.race([answers, died])) as [Answered<Value>];
      return answer;
    } catch (error) {
      if (late.aborted) throw new Error(`${name} has not answered within ${withinMs} ms`, { cause: error });
      throw error;
    } finally {
      over.abort();
    }
  }
}
