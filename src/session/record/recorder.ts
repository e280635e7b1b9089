import PQueue from "p-queue";
import type { Call, ExtraAnswer } from "../../conversation/call.ts";
import type { StateChange } from "../../conversation/state/state-change.ts";
import type { Summary } from "../../conversation/summary.ts";
import type { AnswerProgress, ShownContext, TurnRecord } from "../../conversation/turn-record.ts";
import { AppError } from "../../errors/app-error.ts";
import { retryWhileUnavailable } from "../../store/database/retry-while-unavailable.ts";
import { BlockWriter } from "../../store/turns/block-writer.ts";
import { insertCommentary, MAX_COMMENTARIES, type Commentary } from "../../store/turns/insert-commentary.ts";
import { insertSummary } from "../../store/turns/summaries.ts";
import { insertWaitingMessage, type WaitingMessage } from "../../store/turns/waiting-messages.ts";
import {
  type NewTurnRow,
  type SpeechEndRow,
  type TurnEndRow,
  finishSpeech,
  finishTurn,
  insertTurn,
  storeContext,
  storeProgress,
} from "../../store/turns/write-turns.ts";
import { recordExtraAnswer, saveCall } from "../../store/calls.ts";
import { insertMedia, type MediaWithSource } from "../../store/media.ts";
import { storeStateChange } from "../../store/sessions/session-state.ts";
import type { SessionWriter } from "../../store/sessions/session-writer.ts";
import { setOpener } from "../../store/sessions/sessions.ts";
import type { LedgerListener } from "../../tool/calls/call-ledger.ts";
import type { BlockRecord } from "../../turn/turn-draft.ts";
import { cleanBlock } from "./clean-block.ts";
import type { SessionLease } from "./session-lease.ts";

/** How long a write is retried while the database is unavailable. */
const GIVE_UP_AFTER_MS = 10_000;
const RETRIES = { giveUpAfterMs: GIVE_UP_AFTER_MS };
/** How many commentaries and extra answers may wait to be stored. Bounded because participants can send many. */
const MAX_EXTRA_WRITES = 64;

interface RecorderEvents {
  /** Called when a write has failed permanently. Must not throw. */
  readonly onLost: (error: AppError) => void;
  /**
   * Called when an extra answer to a call could not be stored, for example because too many were waiting. Must not
   * throw.
   */
  readonly onExtraLost?: (error: AppError) => void;
  /** Called when the call is stored in this state. Must not throw. */
  readonly onCallStored?: (call: Call) => void;
}

/** A state of a call that is not stored yet, and how the call's end changed the session's state. */
interface UnsavedCall {
  readonly call: Call;
  readonly change: StateChange | undefined;
}

/**
 * Stores a session's turns, blocks and calls in the background. `durable` resolves when everything passed in so far is
 * stored. Writes for the same turn or call keep their order, and are not delayed by commentaries or extra answers.
 */
export class Recorder implements Omit<LedgerListener, "onBegun"> {
  readonly #lease: Pick<SessionLease, "untilOwned" | "lose">;
  readonly #writer: SessionWriter;
  readonly #blocks: BlockWriter;
  readonly #events: Required<RecorderEvents>;
  /** The last pending write of each turn or call, by its id. */
  readonly #chains = new Map<string, Promise<void>>();
  /** States of a call that are not stored yet, by the call's id, oldest first. Only the latest one is written. */
  readonly #unsaved = new Map<string, UnsavedCall[]>();
  /** The last write of the session's state. These writes keep their order, because each contains the whole state. */
  #stateWritten: Promise<void> = Promise.resolve();
  /** Progress of a turn's answer that is not stored yet, by the turn's id. */
  readonly #unstoredProgress = new Map<string, AnswerProgress>();
  /** Commentaries and extra answers are stored one at a time, to leave the other database connections to the turn. */
  readonly #extraWrites = new PQueue({ concurrency: 1 });
  /** Messages are stored one at a time, in the order in which they will be answered. */
  readonly #messages = new PQueue({ concurrency: 1 });
  /**
   * Messages being stored, by id. A new turn waits for its message's write, because storing the turn deletes the
   * waiting message.
   */
  readonly #keeping = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();
  /** The latest turn. */
  #begun: (Pick<TurnRecord, "parentMessageId"> & { readonly turnId: string }) | undefined;
  /** The latest turn's id if that turn could not be stored. Nothing that belongs to such a turn can be stored. */
  #unstoredTurn: string | undefined;
  #failure: AppError | undefined;

  constructor(
    lease: Pick<SessionLease, "writer" | "untilOwned" | "lose">,
    { onLost, onExtraLost = () => {}, onCallStored = () => {} }: RecorderEvents,
  ) {
    this.#lease = lease;
    this.#writer = lease.writer;
    this.#events = { onLost, onExtraLost, onCallStored };
    this.#blocks = new BlockWriter(lease.writer, {
      onProblem: ({ outcome, error }) => {
        if (outcome === "lost") this.#failure ??= error;
        this.#lose(error);
      },
    });
  }

  /** How many blocks are not stored yet. */
  get waitingBlocks(): number {
    return this.#blocks.queuedCount;
  }

  beginTurn(turn: TurnRecord, begin: Pick<NewTurnRow, "replaces" | "isVariation" | "isSpoken" | "undone"> = {}): void {
    this.#failure = undefined;
    this.#unstoredTurn = undefined;
    const { id, participantIdentity, parentMessageId, messageId, input } = turn;
    this.#begun = { turnId: id, parentMessageId };
    const blocks = turn.blocks.map(cleanBlock);
    const kept = this.#keeping.get(parentMessageId ?? "")?.catch(() => {});
    const begun = async () => {
      const row = { id, participantIdentity, parentMessageId, messageId, input };
      const position = await insertTurn(this.#writer, { ...row, ...begin, blocks });
      if (position === undefined) throw new AppError("invalid_state", "The message was already answered");
      if (position === 1) await setOpener(this.#writer, { identity: participantIdentity });
    };
    const written = begin.undone ? this.#writeState(id, begun, kept) : this.#write(id, begun, kept);
    written.catch(() => (this.#unstoredTurn = id));
  }

  /**
   * Resolves when a participant's message is stored, so that this worker or the next one will answer it. If its turn
   * has begun, the message is stored with the turn, otherwise separately until the turn begins.
   *
   * @throws {AppError} `unavailable` when the database remains unavailable
   */
  async storeMessage(message: WaitingMessage): Promise<void> {
    if (this.#begun?.parentMessageId === message.id) return this.#chains.get(this.#begun.turnId);
    const kept = this.#messages.add(() =>
      retryWhileUnavailable(() => insertWaitingMessage(this.#writer, message), RETRIES),
    );
    this.#keeping.set(message.id, kept);
    try {
      await kept;
    } catch (error) {
      this.#lose(error as AppError);
      throw error;
    } finally {
      this.#keeping.delete(message.id);
    }
  }

  /** Resolves when the turn has been stored or storing it has failed. Never rejects. */
  async begun(turnId: string): Promise<void> {
    await this.#chains.get(turnId)?.catch(() => {});
  }

  /**
   * Stores a participant's commentary on a message.
   *
   * @throws {AppError} when it is not stored: `conversation_not_found` if the message is not in this session,
   *   `invalid_state` if the turn has `MAX_COMMENTARIES`, `queue_overflow` if too many writes are waiting
   */
  async comment(commentary: Commentary): Promise<void> {
    const result = await this.#storeExtra(() => insertCommentary(this.#writer, commentary));
    if (result === "unknown_message")
      throw new AppError("conversation_not_found", "commentary.messageId: no such message in this session");
    if (result === "too_many")
      throw new AppError("invalid_state", `The turn already has ${MAX_COMMENTARIES} commentaries, which is the limit`);
  }

  /**
   * Stores a summary that replaces older turns. Call this before `finishTurn` for a turn whose context refers to the
   * summary.
   */
  storeSummary(summary: Summary): void {
    void this.#write(summary.id, () => insertSummary(this.#writer, summary));
  }

  /**
   * Stores the context that a running turn continues with. Call this before adding the next blocks. The context is
   * written after the summary that it refers to.
   */
  storeContext(turnId: string, context: ShownContext): void {
    const summary = this.#chains.get(context.summary ?? "")?.catch(() => {});
    void this.#write(turnId, async () => {
      await summary;
      await storeContext(this.#writer, { turnId, context });
    });
  }

  /**
   * Stores how much of a turn's answer was sent and played, so that the next worker can output the rest. Blocks do not
   * wait for this write.
   */
  storeProgress(turnId: string, progress: AnswerProgress): void {
    const isBeingWritten = this.#unstoredProgress.has(turnId);
    this.#unstoredProgress.set(turnId, progress);
    if (isBeingWritten) return;
    const write = async () => {
      for (let newest; (newest = this.#unstoredProgress.get(turnId));) {
        await storeProgress(this.#writer, { turnId, progress: newest });
        if (this.#unstoredProgress.get(turnId) === newest) this.#unstoredProgress.delete(turnId);
      }
    };
    void this.#write(`progress of ${turnId}`, write, this.#chains.get(turnId));
  }

  /** Returns the record of one turn's blocks. The blocks are stored after the turn itself. */
  blocksOf(turnId: string): BlockRecord {
    return {
      add: (block, stopReason) => {
        if (turnId === this.#unstoredTurn) return;
        const cleaned = cleanBlock(block);
        const add = () => this.#blocks.add({ turnId, block: cleaned, stopReason });
        const turn = this.#chains.get(turnId);
        if (turn) void turn.then(add, () => {});
        else add();
      },
      durable: () => this.durable(),
    };
  }

  /** Resolves when the turn's end and all its blocks are stored. @throws {AppError} like `durable` */
  async finishTurn(end: TurnEndRow): Promise<void> {
    await this.durable();
    void this.#write(end.turnId, async () => void (await finishTurn(this.#writer, end)));
    await this.durable();
  }

  /** Resolves when the end of the answer's speech is stored, after the turn's end. @throws {AppError} like `durable` */
  async finishSpeech(end: SpeechEndRow): Promise<void> {
    void this.#write(end.turnId, () => finishSpeech(this.#writer, end));
    await this.durable(end.turnId);
  }

  /**
   * Stores media that blocks refer to. Media of a call's outcome are stored before the outcome. Resolves when stored.
   *
   * @throws {AppError} `unavailable` when the database remains unavailable
   */
  async storeMedia(given: MediaWithSource): Promise<void> {
    const key = given.callId ?? given.media[0]?.id ?? "";
    void this.#write(key, () => insertMedia(this.#writer, given));
    await this.#chains.get(key);
  }

  onOpened(call: Call): void {
    this.#saveCall(call, this.#chains.get(call.turnId));
  }

  /** Does not store pending calls again: changes before a call starts need not outlive the worker. */
  onChanged(call: Call): void {
    if (call.state !== "pending") this.#saveCall(call);
  }

  onProgress(call: Call): void {
    this.#saveCall(call);
  }

  /** @param change how the call changed the session's state. Both are stored in one statement */
  onSettled(call: Call, change?: StateChange): void {
    this.#saveCall(call, undefined, change);
  }

  /** Stores a change of the session's state that a hook made. */
  storeStateChange(change: StateChange): void {
    const turn = this.#chains.get(change.turnId ?? "");
    void this.#writeState("state", () => storeStateChange(this.#writer, change), turn);
  }

  /** Drops the extra answer if `MAX_EXTRA_WRITES` others are waiting. */
  onExtraAnswer(callId: string, answer: ExtraAnswer): void {
    const store = () => recordExtraAnswer(this.#writer, { callId, answer });
    this.#storeExtra(store).catch((error: AppError) => this.#events.onExtraLost(error));
  }

  /**
   * Resolves when everything passed in so far is stored and this worker still owns the session.
   *
   * @param id the turn or call whose writes to wait for, in addition to all blocks; if absent, all writes
   * @throws {AppError} `unavailable` when the database remained unavailable, or the error of the first write lost since
   *   the last turn began
   */
  async durable(id?: string): Promise<void> {
    const chains = id === undefined ? [...this.#chains.values()] : [this.#chains.get(id) ?? Promise.resolve()];
    await Promise.allSettled(chains);
    await this.#blocks.flush().catch((error: AppError) => {
      // Throw the first failure: lost blocks may only be its consequence.
      throw this.#failure ?? error;
    });
    if (this.#failure) throw this.#failure;
    await this.#lease.untilOwned();
  }

  /**
   * Stores everything pending. Commentaries and extra answers still waiting after `GIVE_UP_AFTER_MS` are rejected. Does
   * not close the connection pool.
   */
  async close(): Promise<void> {
    const refuse = () => this.#closing.abort(new AppError("unavailable", "The session closed before this was stored"));
    const timer = setTimeout(refuse, GIVE_UP_AFTER_MS);
    await Promise.allSettled([...this.#chains.values(), this.#messages.onIdle(), this.#extraWrites.onIdle()]);
    clearTimeout(timer);
    await this.#blocks.close().catch((error: AppError) => this.#events.onLost(error));
  }

  /**
   * Stores the latest state of a call, whose input and result are already clean (`cleanJson`). If a call is opened and
   * started in the same tick, one statement stores it together with its tool_use block. The same applies to its outcome
   * and tool_result block. `onCallStored` is called after a retried write too.
   */
  #saveCall(call: Call, after?: Promise<void>, change?: StateChange): void {
    if (call.turnId === this.#unstoredTurn) return;
    const unsaved = this.#unsaved.get(call.id) ?? [];
    this.#unsaved.set(call.id, unsaved);
    const added = { call, change };
    unsaved.push(added);
    const write = async () => {
      // A change of the session's state is left to its own write, which waits for earlier changes.
      const newest = unsaved.findLast((each) => !each.change || each === added);
      if (!newest) return;
      await this.#blocks.writeTogether((blocks) => saveCall(this.#writer, newest.call, { ...newest, blocks }));
      for (const state of unsaved.splice(0, unsaved.indexOf(newest) + 1)) this.#events.onCallStored(state.call);
      if (unsaved.length === 0) this.#unsaved.delete(call.id);
    };
    void (change ? this.#writeState(call.id, write, after) : this.#write(call.id, write, after));
  }

  /** Runs the operation after all pending writes, because it may concern one of those turns or calls. */
  async #storeExtra<Result>(operation: () => Promise<Result>): Promise<Result> {
    if (this.#extraWrites.size >= MAX_EXTRA_WRITES)
      throw new AppError("queue_overflow", "Too many writes are waiting to be stored");
    const before = Promise.allSettled(this.#chains.values());
    const write = async () => {
      await before;
      return retryWhileUnavailable(operation, RETRIES);
    };
    return this.#extraWrites.add(write, { signal: this.#closing.signal });
  }

  #lose(error: AppError): void {
    if (error.code === "lost_lease") this.#lease.lose();
    this.#events.onLost(error);
  }

  /** Like `#write`, for a write that contains the session's state. It also waits for earlier such writes. */
  #writeState(key: string, operation: () => Promise<void>, after?: Promise<void>): Promise<void> {
    const earlier = this.#stateWritten.catch(() => {});
    this.#stateWritten = this.#write(key, operation, Promise.all([earlier, after]));
    return this.#stateWritten;
  }

  /** @param after a promise that the write waits for, too; if it rejects, the write fails */
  #write(key: string, operation: () => Promise<void>, after?: Promise<unknown>): Promise<void> {
    const before = Promise.all([this.#chains.get(key), after]);
    const write = before.then(() => retryWhileUnavailable(operation, RETRIES));
    this.#chains.set(key, write);
    write
      .catch((error: AppError) => {
        this.#failure ??= error;
        this.#lose(error);
      })
      .finally(() => {
        if (this.#chains.get(key) === write) this.#chains.delete(key);
      });
    return write;
  }
}
