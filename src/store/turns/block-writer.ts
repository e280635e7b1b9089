import { setImmediate } from "node:timers/promises";
import { AppError } from "../../errors/app-error.ts";
import type { SessionWriter } from "../sessions/session-writer.ts";
import { type BlockProblem, type TurnBlockRow, writeBlocks } from "./write-blocks.ts";

export interface BlockWriterOptions {
  /** How long a flush waits for the database. @defaultValue 10000 */
  readonly flushTimeoutMs?: number;
  /** The maximum number of queued blocks. Further blocks are refused. @defaultValue 5000 */
  readonly maxQueued?: number;
  /** @defaultValue 500 */
  readonly maxBatch?: number;
  /** Called once for each block that is lost or replaced. Must not throw. */
  readonly onProblem?: (problem: BlockProblem) => void;
}

interface QueuedBlock {
  /** The block's number among all added blocks, from 1. */
  readonly number: number;
  readonly row: TurnBlockRow;
}

/** Stores blocks in the same statement as another write, all or none. Returns how many blocks were new. */
type CombinedWrite = (rows: readonly TurnBlockRow[]) => Promise<number>;

/**
 * Stores blocks while the model streams, in order and in batches. Blocks that arrive during a batch form the next one.
 * Another write may include the blocks that were just added (`writeTogether`). While the database is down, blocks stay
 * queued and are retried. If a block is lost, a flush rejects and `onProblem` is called. Once another worker has
 * claimed the session, every block is lost.
 */
export class BlockWriter {
  readonly #writer: SessionWriter;
  readonly #options: Required<BlockWriterOptions>;
  readonly #queue: QueuedBlock[] = [];
  readonly #flushes = new Flushes();
  /**
   * Turns that have lost a block. Further blocks of these turns are refused, so that their stored blocks have no gap.
   */
  readonly #lostTurns = new Set<string>();
  #added = 0;
  #isWriting = false;
  #isDue = false;
  #lastError: unknown;
  #stopWaiting: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(writer: SessionWriter, options: BlockWriterOptions = {}) {
    this.#writer = writer;
    this.#options = { flushTimeoutMs: 10_000, maxQueued: 5_000, maxBatch: 500, onProblem: () => {}, ...options };
  }

  /** The number of blocks that are not durable yet. */
  get queuedCount(): number {
    return this.#queue.length;
  }

  /**
   * Queues a block. Never waits or throws. A refused block (queue full, earlier block of its turn lost, writer closed)
   * is lost.
   */
  add(row: TurnBlockRow): void {
    this.#added += 1;
    const refusal = this.#refusal(row);
    if (refusal) return this.#lose({ number: this.#added, row }, refusal);
    this.#queue.push({ number: this.#added, row });
    this.#writeSoon();
  }

  /**
   * Runs another write together with the blocks that were just added, in one statement instead of two. If the blocks
   * cannot be stored this way, they are stored separately, and the write is repeated without them.
   *
   * @throws {AppError} whatever the write throws
   */
  async writeTogether(write: CombinedWrite): Promise<void> {
    if (this.#queue.length === 0) await setImmediate();
    const batch = this.#isWriting ? [] : this.#queue.slice(0, this.#options.maxBatch);
    if (batch.length === 0) return void (await write([]));
    this.#isWriting = true;
    try {
      const stored = await write(batch.map(({ row }) => row));
      // If some of the blocks were already stored, the batch stays queued, and `#write` compares all of it with the
      // stored blocks.
      if (stored === batch.length) this.#finish(batch, []);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "internal") throw error;
      await write([]);
    } finally {
      this.#isWriting = false;
      this.#writeSoon();
    }
  }

  /**
   * Resolves once every block added before this call is durable.
   *
   * @throws {AppError} `unavailable` on timeout. The blocks stay queued and are retried
   * @throws {AppError} the error of a block that was added since the last flush and is lost
   */
  async flush(): Promise<void> {
    const flushed = this.#flushes.wait({
      to: this.#added,
      timeoutMs: this.#options.flushTimeoutMs,
      cause: () => this.#lastError,
    });
    this.#endFlushes();
    await flushed;
  }

  /** Flushes and stops. Rejects if some blocks are not durable by then; these blocks are lost. The pool stays open. */
  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    try {
      await this.flush();
    } finally {
      this.#abandon(
        new AppError("unavailable", "The block writer was closed before the blocks were stored", {
          cause: this.#lastError,
        }),
      );
      this.#stopWaiting?.();
    }
  }

  /** Drops all queued blocks. */
  #abandon(why: AppError): void {
    for (const queued of this.#queue.splice(0)) this.#lose(queued, why);
    this.#endFlushes();
  }

  /** Waits for `setImmediate`, so that blocks added in one go form one batch. */
  #writeSoon(): void {
    if (this.#isDue || this.#isWriting || this.#queue.length === 0) return;
    this.#isDue = true;
    void setImmediate().then(async () => {
      this.#isDue = false;
      await this.#write();
    });
  }

  async #write(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    for (let failures = 0; this.#queue.length > 0;) {
      const batch = this.#queue.slice(0, this.#options.maxBatch);
      try {
        const rows = batch.map((queued) => queued.row);
        const problems = await writeBlocks(this.#writer, rows);
        failures = 0;
        this.#finish(batch, problems);
      } catch (error) {
        this.#lastError = error;
        if (error instanceof AppError && error.code === "lost_lease") {
          this.#abandon(error);
          break;
        }
        failures += 1;
        // If the writer was closed meanwhile, the queue is empty.
        if (this.#queue.length > 0) await this.#wait(Math.min(25 * 2 ** failures, 1_000));
      }
    }
    this.#isWriting = false;
  }

  #finish(batch: readonly QueuedBlock[], problems: readonly BlockProblem[]): void {
    // If the writer was closed meanwhile, these blocks were already reported as lost.
    if (this.#queue[0] !== batch[0]) return;
    this.#queue.splice(0, batch.length);
    for (const problem of problems) {
      const queued = batch.find(({ row }) => row === problem.row);
      if (problem.outcome === "lost" && queued) this.#lose(queued, problem.error);
      else this.#options.onProblem(problem);
    }
    this.#endFlushes();
  }

  #refusal({ turnId, block }: TurnBlockRow): AppError | undefined {
    const name = `Block ${block.sequence} of turn "${turnId}"`;
    if (this.#closing) return new AppError("invalid_state", `${name} was added after the block writer was closed`);
    if (this.#lostTurns.has(turnId))
      return new AppError("invalid_state", `${name} cannot be stored: an earlier block of the turn was lost`);
    if (this.#queue.length < this.#options.maxQueued) return undefined;
    const message = `${name} cannot be queued: ${this.#queue.length} blocks are waiting for the database`;
    return new AppError("queue_overflow", message, { cause: this.#lastError });
  }

  #lose({ number, row }: QueuedBlock, error: AppError): void {
    this.#flushes.lose(number, error);
    this.#lostTurns.add(row.turnId);
    this.#options.onProblem({ row, outcome: "lost", error });
  }

  #endFlushes(): void {
    this.#flushes.settle(this.#queue[0]?.number ?? Infinity);
  }

  /** Waits until the next retry, or until the writer is closed. */
  async #wait(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#stopWaiting = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#stopWaiting = undefined;
  }
}

interface Flush {
  /** The flush covers the blocks after number `from`, up to and including `to`. */
  readonly from: number;
  readonly to: number;
  readonly timer: NodeJS.Timeout;
  readonly resolve: () => void;
  readonly reject: (error: AppError) => void;
}

interface FlushRequest {
  /** The number of the last added block. */
  readonly to: number;
  readonly timeoutMs: number;
  /** Called on timeout. Returns why the database did not answer, if known. */
  readonly cause: () => unknown;
}

/** Flushes that are waiting for blocks to become durable. A lost block rejects every flush that covers it. */
class Flushes {
  readonly #waiting = new Set<Flush>();
  #losses: { readonly number: number; readonly error: AppError }[] = [];
  /** The number of the last block that a finished flush covered. */
  #settledTo = 0;

  /** Registers a flush synchronously. The flush ends through `settle`, or on timeout with `unavailable`. */
  async wait({ to, timeoutMs, cause }: FlushRequest): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onTimeout = () => {
      this.#waiting.delete(flush);
      const message = `The database did not store the conversation within ${timeoutMs} ms`;
      reject(new AppError("unavailable", message, { cause: cause() }));
    };
    const timer = setTimeout(onTimeout, timeoutMs);
    const flush = { from: this.#settledTo, to, timer, resolve, reject };
    this.#waiting.add(flush);
    await promise;
  }

  lose(number: number, error: AppError): void {
    this.#losses.push({ number, error });
  }

  /** Ends the flushes that cover only blocks before `firstOpen`. */
  settle(firstOpen: number): void {
    for (const flush of this.#waiting) {
      if (flush.to >= firstOpen) continue;
      clearTimeout(flush.timer);
      this.#waiting.delete(flush);
      this.#settledTo = Math.max(this.#settledTo, flush.to);
      const loss = this.#losses.find(({ number }) => number > flush.from && number <= flush.to);
      if (loss) flush.reject(loss.error);
      else flush.resolve();
    }
    const firstNeeded = Math.min(this.#settledTo, ...Array.from(this.#waiting, (flush) => flush.from));
    this.#losses = this.#losses.filter(({ number }) => number > firstNeeded);
  }
}
