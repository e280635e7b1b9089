import PQueue from "p-queue";
import pRetry from "p-retry";
import { type Call, type ExtraAnswer } from "../../conversation/call.ts";
import { type TurnBlock } from "../../conversation/block.ts";
import { type TurnRecord } from "../../conversation/turn-record.ts";
import { AppError } from "../../errors/app-error.ts";
import { cleanJson } from "../../lib/clean-json.ts";
import { type JsonObject } from "../../lib/json.ts";
import { BlockWriter } from "../../store/turns/block-writer.ts";
import { insertCommentary, MAX_COMMENTARIES, type Commentary } from "../../store/turns/insert-commentary.ts";
import { type TurnEndRow, countAside, finishTurn, insertTurn } from "../../store/turns/write-turns.ts";
import { recordExtraAnswer, saveCall } from "../../store/calls.ts";
import { type SessionWriter } from "../../store/sessions/session-writer.ts";
import { setOpener } from "../../store/sessions/sessions.ts";
import { type LedgerListener } from "../../tool/calls/call-ledger.ts";
import { type BlockRecord } from "../../turn/turn-draft.ts";
import { type SessionLease } from "./session-lease.ts";

/** How long a write is tried again while the database is away. */
const GIVE_UP_AFTER_MS = 10_000;
/** Writes beside the turn that may wait: participants can ask for many. */
const MAX_BESIDE = 64;

interface RecorderEvents {
  /** A write came to nothing; must not throw. */
  readonly onLost: (error: AppError) => void;
  /** A call is stored as it is given here; must not throw. */
  readonly onCallStored?: (call: Call) => void;
}

/**
 * Writes a session's turns, blocks and calls behind what happens. Nothing here waits, but for `durable`: it resolves
 * when what was handed over before is stored. Writes of one turn or call keep their order; what participants add beside
 * (notes, answers that change nothing) holds up neither.
 */
export class Recorder implements LedgerListener {
  readonly #lease: Pick<SessionLease, "untilOwned" | "lose">;
  readonly #writer: SessionWriter;
  readonly #blocks: BlockWriter;
  readonly #events: Required<RecorderEvents>;
  /** The last write of each turn and call that is still under way, by its id. */
  readonly #chains = new Map<string, Promise<void>>();
  /** One at a time: whatever holds them up, the other connections are the turn's. */
  readonly #besides = new PQueue({ concurrency: 1 });
  readonly #closing = new AbortController();
  #failure: AppError | undefined;

  constructor(
    lease: Pick<SessionLease, "writer" | "untilOwned" | "lose">,
    { onLost, onCallStored = () => {} }: RecorderEvents,
  ) {
    this.#lease = lease;
    this.#writer = lease.writer;
    this.#events = { onLost, onCallStored };
    this.#blocks = new BlockWriter(lease.writer, {
      onProblem: ({ outcome, error }) => {
        if (outcome === "lost") this.#failure ??= error;
        this.#lose(error);
      },
    });
  }

  /** Blocks that are not stored yet. */
  get waitingBlocks(): number {
    return this.#blocks.queuedCount;
  }

  /** @param replaces the turn that this one takes the place of, and of all after it */
  beginTurn(turn: TurnRecord, replaces?: string): void {
    this.#failure = undefined;
    const { id, participantIdentity, parentMessageId, messageId } = turn;
    const blocks = turn.blocks.map(cleanBlock);
    const input = turn.input.map(({ type, text }) => ({ type, text }));
    this.#write(id, async () => {
      const row = { id, participantIdentity, parentMessageId, messageId, input };
      const position = await insertTurn(this.#writer, { ...row, blocks, replaces });
      if (position === undefined) throw new AppError("invalid_state", "The message has been answered before");
      if (position === 1) await setOpener(this.#writer, { identity: participantIdentity });
    });
  }

  /** Resolves when the turn is stored, or will not be. */
  async begun(turnId: string): Promise<void> {
    await this.#chains.get(turnId)?.catch(() => {});
  }

  /**
   * A participant's note on a message.
   *
   * @throws {AppError} when it is not kept: `conversation_not_found` for a message that is not the session's,
   *   `invalid_state` when the turn has as many as it may, `queue_overflow` when too many are being stored
   */
  async comment(commentary: Commentary): Promise<void> {
    const kept = await this.#beside(() => insertCommentary(this.#writer, commentary));
    if (kept === "unknown_message")
      throw new AppError("conversation_not_found", "commentary.messageId: no such message in this session");
    if (kept === "too_many")
      throw new AppError("invalid_state", `A turn takes ${MAX_COMMENTARIES} notes, and has them`);
  }

  /** A sentence was said that is in no block: the answer's next one has a higher number than its text tells. */
  noteAside(turnId: string): void {
    this.#write(turnId, () => countAside(this.#writer, { turnId }));
  }

  /** Where one turn's blocks go; they wait for the turn itself to be stored. */
  blocksOf(turnId: string): BlockRecord {
    return {
      add: (block) => {
        const cleaned = cleanBlock(block);
        const add = () => this.#blocks.add({ turnId, block: cleaned });
        const turn = this.#chains.get(turnId);
        if (turn) void turn.then(add, () => {});
        else add();
      },
      durable: () => this.durable(),
    };
  }

  /** Resolves when the turn and all its blocks are stored as ended. */
  async finishTurn(end: TurnEndRow): Promise<void> {
    await this.durable();
    this.#write(end.turnId, async () => void (await finishTurn(this.#writer, end)));
    await this.durable();
  }

  onOpened(call: Call): void {
    this.#saveCall(call, this.#chains.get(call.turnId));
  }

  /** What changes before it runs is not of the record: a pending call has not been started. */
  onChanged(call: Call): void {
    if (call.state !== "pending") this.#saveCall(call);
  }

  onProgress(call: Call): void {
    this.#saveCall(call);
  }

  onSettled(call: Call): void {
    this.#saveCall(call);
  }

  /** One that finds too many others on their way is not kept. */
  onExtraAnswer(callId: string, answer: ExtraAnswer): void {
    const store = () => recordExtraAnswer(this.#writer, { callId, answer });
    this.#beside(store).catch((error: AppError) => this.#events.onLost(error));
  }

  /**
   * Resolves when what was handed over before is stored, and the session is still this worker's.
   *
   * @param id the blocks, and of all turns and calls this one
   * @throws {AppError} `unavailable` when the database stayed away; the first loss since the last turn began, if any
   */
  async durable(id?: string): Promise<void> {
    const chains = id === undefined ? [...this.#chains.values()] : [this.#chains.get(id) ?? Promise.resolve()];
    await Promise.allSettled(chains);
    await this.#blocks.flush();
    if (this.#failure) throw this.#failure;
    await this.#lease.untilOwned();
  }

  /** Stores what is left; the pool stays open. What still waits behind others after a while is refused. */
  async close(): Promise<void> {
    const refuse = () => this.#closing.abort(new AppError("unavailable", "The session was closed first"));
    const timer = setTimeout(refuse, GIVE_UP_AFTER_MS);
    await Promise.allSettled([...this.#chains.values(), this.#besides.onIdle()]);
    clearTimeout(timer);
    await this.#blocks.close().catch((error: AppError) => this.#events.onLost(error));
  }

  /**
   * Whoever made it has cleaned its input and result. Tells that it is stored, also when a repeated write finds it so.
   */
  #saveCall(call: Call, after?: Promise<void>): void {
    const write = async () => {
      await saveCall(this.#writer, call);
      this.#events.onCallStored(call);
    };
    this.#write(call.id, write, after);
  }

  /** Behind the turns and calls that are on their way by now, which it may be about. */
  async #beside<Result>(operation: () => Promise<Result>): Promise<Result> {
    if (this.#besides.size >= MAX_BESIDE) throw new AppError("queue_overflow", "Too much waits to be stored");
    const before = Promise.allSettled(this.#chains.values());
    const write = async () => {
      await before;
      return retried(operation);
    };
    return this.#besides.add(write, { signal: this.#closing.signal });
  }

  #lose(error: AppError): void {
    if (error.code === "lost_lease") this.#lease.lose();
    this.#events.onLost(error);
  }

  /** @param after what the first write of `key` waits for; if that fails, so does the write */
  #write(key: string, operation: () => Promise<void>, after: Promise<void> = Promise.resolve()): void {
    const before = this.#chains.get(key) ?? after;
    const write = before.then(() => retried(operation));
    this.#chains.set(key, write);
    write
      .catch((error: AppError) => {
        this.#failure ??= error;
        this.#lose(error);
      })
      .finally(() => {
        if (this.#chains.get(key) === write) this.#chains.delete(key);
      });
  }
}

async function retried<Result>(operation: () => Promise<Result>): Promise<Result> {
  return pRetry(operation, {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: 50,
    maxTimeout: 1_000,
    maxRetryTime: GIVE_UP_AFTER_MS,
    shouldRetry: ({ error }) => error instanceof AppError && error.code === "unavailable",
  });
}

function toObject(value: JsonObject): JsonObject {
  return cleanJson(value) as JsonObject;
}

function cleanBlock(block: TurnBlock): TurnBlock {
  const { textContent, content } = block;
  return {
    ...block,
    textContent: textContent === null ? null : (cleanJson(textContent) as string),
    content: content && toObject(content),
  };
}
