import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import PQueue from "p-queue";
import type { AskOptions, SpeechModel } from "./speech-model.ts";

/** What the thread is told: to begin an answer, to go on with it (without a question), or to forget it. */
export interface Step<Question> {
  readonly id: number;
  readonly question?: Question;
  /** Whether the step ends early, so that the answer can be dropped. */
  readonly isShort?: boolean;
  readonly isCancelled?: boolean;
}

/** What the thread answers to each step, and once the model is loaded. */
export type Answered<Part> =
  | { readonly part: Part | undefined; readonly isComplete: boolean }
  | { readonly error: string };

export interface ModelThreadOptions<Part> {
  /** The thread's name in errors, such as "the embedded recognizer". */
  readonly name: string;
  /** The module that the thread runs. */
  readonly module: URL;
  readonly workerData: unknown;
  /** Returns how long a part of an answer is heard. The next part is due when the parts before it have been heard. */
  readonly soundMs?: (part: Part) => number;
}

/** How long a step may take before the thread counts as stuck. A step takes a second at most. */
const ANSWERS_WITHIN_MS = 5_000;
const LOADS_WITHIN_MS = 60_000;
/**
 * How many questions may be queued. Each session waits for one answer at a time, so the queue gets this long only if
 * the machine cannot keep up.
 */
const MAX_WAITING = 20;
/**
 * When the first part of an answer is due. A sentence that already sounds goes first if it would otherwise be
 * interrupted before that: a gap in its middle is worse than a short wait.
 */
const BEGINS_WITHIN_MS = 200;
/** The share of its time that the thread may spend on optional questions, however many there are. */
const OPTIONAL_SHARE = 0.25;

/**
 * Runs a model in a separate thread, because a model blocks its thread while it works. All sessions in a process share
 * the thread, because models are large. It works on one step of one answer at a time, and always on the one that is due
 * first. If the thread hangs or dies, the answers that it has begun fail, and the next question starts a new thread.
 */
export class ModelThread<Question, Part> implements SpeechModel<Question, Part> {
  readonly #options: ModelThreadOptions<Part>;
  readonly #queue = new PQueue({ concurrency: 1 });
  #thread: Promise<Worker> | undefined;
  #lastId = 0;
  /** How many answers are not complete. */
  #open = 0;
  /** Optional questions are dropped until then. */
  #optionalFrom = 0;
  #isClosed = false;

  constructor(options: ModelThreadOptions<Part>) {
    this.#options = options;
  }

  /** Loads the model, so that the first question does not wait for it. Rejects if it cannot be loaded. */
  async warm(): Promise<void> {
    await this.#running();
  }

  /**
   * Sends a question to the thread and yields the parts of its answer.
   *
   * @throws if the model cannot be loaded, fails or hangs, if 20 questions are already queued, after `close`, and with
   *   the signal's reason when it aborts
   */
  async *ask(question: Question, { signal, isOptional = false }: AskOptions = {}): AsyncGenerator<Part, void> {
    const { name, soundMs } = this.#options;
    if (this.#queue.size >= MAX_WAITING) throw new Error(`${name} is busy: ${MAX_WAITING} requests are waiting`);
    const askedAt = performance.now();
    if (isOptional && (this.#open > 0 || askedAt < this.#optionalFrom)) return;
    const id = ++this.#lastId;
    let thread: Worker | undefined;
    let isComplete = false;
    let dueAt = askedAt + BEGINS_WITHIN_MS;
    let heardTo: number | undefined;
    const advance = async () => {
      signal?.throwIfAborted();
      const running = await this.#running();
      if (thread && thread !== running) throw new Error(`the worker thread of ${name} exited`);
      const step = { id, isShort: isOptional, ...(!thread && { question }) };
      thread = running;
      return this.#advance(running, step);
    };
    this.#open++;
    try {
      while (!isComplete) {
        const answered = await this.#queued(advance, dueAt);
        isComplete = answered.isComplete;
        if (answered.part !== undefined) {
          heardTo = (heardTo ?? performance.now()) + (soundMs?.(answered.part) ?? 0);
          if (soundMs) dueAt = heardTo;
          yield answered.part;
        }
        if (isOptional && this.#open > 1) return;
      }
    } finally {
      this.#open--;
      if (isOptional) this.#optionalFrom = askedAt + (performance.now() - askedAt) / OPTIONAL_SHARE;
      if (!isComplete) thread?.postMessage({ id, isCancelled: true } satisfies Step<Question>);
    }
  }

  /** Runs a step when it is due before all others that wait. */
  #queued<Result>(step: () => Promise<Result>, dueAt: number): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const run = async () => {
      await step().then(resolve, reject);
      // Lets the reader ask for the next part before the queue chooses.
      await setImmediate();
    };
    void this.#queue.add(run, { priority: -dueAt });
    return promise;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#thread?.catch(() => undefined))?.terminate();
  }

  async #advance(thread: Worker, step: Step<Question>): Promise<Exclude<Answered<Part>, { readonly error: string }>> {
    let answer: Answered<Part>;
    try {
      const answered = this.#nextAnswer(thread, ANSWERS_WITHIN_MS);
      thread.postMessage(step);
      answer = await answered;
    } catch (error) {
      await thread.terminate();
      throw error;
    }
    if ("error" in answer) throw new Error(`${this.#options.name} failed: ${answer.error}`);
    return answer;
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
  async #nextAnswer(thread: Worker, withinMs: number): Promise<Answered<Part>> {
    const { name } = this.#options;
    const over = new AbortController();
    const late = AbortSignal.timeout(withinMs);
    try {
      const died = once(thread, "exit", { signal: over.signal }).then(() => {
        throw new Error(`the worker thread of ${name} exited`);
      });
      const answers = once(thread, "message", { signal: AbortSignal.any([over.signal, late]) });
      const [answer] = (await Promise.race([answers, died])) as [Answered<Part>];
      return answer;
    } catch (error) {
      if (late.aborted) throw new Error(`${name} did not answer within ${withinMs} ms`, { cause: error });
      throw error;
    } finally {
      over.abort();
    }
  }
}
