import pRetry from "p-retry";
import { type TurnBlock } from "../conversation/block.ts";
import { type TurnRecord } from "../conversation/turn-record.ts";
import { AppError } from "../errors/app-error.ts";
import { cleanJson } from "../lib/clean-json.ts";
import { type JsonObject } from "../lib/json.ts";
import { appendCommentary, type Commentary } from "../store/append-commentary.ts";
import { BlockWriter } from "../store/block-writer.ts";
import { finishTurn, type TurnEnd } from "../store/finish-turn.ts";
import { insertToolCall } from "../store/insert-tool-call.ts";
import { insertTurn } from "../store/insert-turn.ts";
import { countAside } from "../store/count-aside.ts";
import { type Sql } from "../store/pool.ts";
import { recordExtraAnswer } from "../store/record-extra-answer.ts";
import { saveCallProgress } from "../store/save-call-progress.ts";
import { setOpener } from "../store/set-opener.ts";
import { settleToolCall } from "../store/settle-tool-call.ts";
import { startToolCall } from "../store/start-tool-call.ts";
import { type Call, type ExtraAnswer } from "../tool/call.ts";
import { type LedgerListener } from "../tool/call-ledger.ts";
import { type BlockRecord } from "../turn/turn-draft.ts";

/** How long a write is tried again while the database is away. */
const GIVE_UP_AFTER_MS = 10_000;

interface RecorderEvents {
  /** A write came to nothing; must not throw. */
  readonly onLost: (error: AppError) => void;
  /** A call is stored as it is given here; must not throw. */
  readonly onCallStored?: (call: Call) => void;
}

/**
 * Writes a session's turns, blocks and calls behind what happens. Nothing here waits, but for `durable`: it resolves
 * when everything that was handed over before is stored. Writes of one turn or call keep their order.
 */
export class Recorder implements LedgerListener {
  readonly #sql: Sql;
  readonly #sessionId: string;
  readonly #writer: BlockWriter;
  readonly #events: Required<RecorderEvents>;
  /** The last write of each turn and call that is still under way, by its id. */
  readonly #chains = new Map<string, Promise<void>>();
  #failure: AppError | undefined;

  constructor(sql: Sql, sessionId: string, { onLost, onCallStored = () => {} }: RecorderEvents) {
    this.#sql = sql;
    this.#sessionId = sessionId;
    this.#events = { onLost, onCallStored };
    this.#writer = new BlockWriter(sql, { onProblem: ({ error }) => onLost(error) });
  }

  /** Blocks that are not stored yet. */
  get waitingBlocks(): number {
    return this.#writer.queuedCount;
  }

  /** @param replaces the turn that this one takes the place of, and of all after it */
  beginTurn(turn: TurnRecord, replaces?: string): void {
    this.#failure = undefined;
    const { id, participantIdentity, parentMessageId, messageId } = turn;
    const blocks = turn.blocks.map(cleanBlock);
    const input = turn.input.map(({ type, text }) => ({ type, text }));
    this.#write(id, async () => {
      const row = { id, sessionId: this.#sessionId, participantIdentity, parentMessageId, messageId, input };
      const position = await insertTurn(this.#sql, { ...row, blocks, replaces });
      if (position === undefined) throw new AppError("invalid_state", "The message has been answered before");
      if (position === 1) await setOpener(this.#sql, { sessionId: this.#sessionId, identity: participantIdentity });
    });
  }

  /** Resolves when the turn is stored, or will not be. */
  async begun(turnId: string): Promise<void> {
    await this.#chains.get(turnId)?.catch(() => {});
  }

  /** A client's note on a message. One that belongs to no message of the session is dropped. */
  comment(commentary: Omit<Commentary, "sessionId">): void {
    const stored = { sessionId: this.#sessionId, ...commentary };
    this.#write(commentary.messageId, async () => void (await appendCommentary(this.#sql, stored)));
  }

  /** A sentence was said that is in no block: the answer's next one has a higher number than its text tells. */
  noteAside(turnId: string): void {
    this.#write(turnId, () => countAside(this.#sql, { turnId }));
  }

  /** Where one turn's blocks go; they wait for the turn itself to be stored. */
  blocksOf(turnId: string): BlockRecord {
    return {
      add: (block) => {
        const cleaned = cleanBlock(block);
        const add = () => this.#writer.add({ turnId, block: cleaned });
        const turn = this.#chains.get(turnId);
        if (turn) void turn.then(add, () => {});
        else add();
      },
      durable: () => this.durable(),
    };
  }

  /** Resolves when the turn and all its blocks are stored as ended. */
  async finishTurn(end: TurnEnd): Promise<void> {
    await this.durable();
    this.#write(end.turnId, async () => void (await finishTurn(this.#sql, end)));
    await this.durable();
  }

  onOpened(call: Call): void {
    const { id, turnId, toolUseId, toolName: name, executionAsked, timeoutMs, idempotencyKey, input, detail } = call;
    const row = {
      id,
      turnId,
      toolUseId,
      name,
      executionAsked,
      timeoutMs,
      idempotencyKey,
      input: toObject(input),
      detail,
      isBackground: call.isBackground,
    };
    this.#writeCall(call, () => insertToolCall(this.#sql, row), this.#chains.get(turnId));
  }

  /** What changes before it runs is not of the record: a pending call has not been started. */
  onChanged(call: Call): void {
    if (call.state === "pending") return;
    const { id: callId, executionResolved = "client", addressee, startedAt, deadlineAt = Date.now() } = call;
    const { isBackground, revision } = call;
    const start = { callId, executionResolved, addressee, startedAt, deadlineAt, isBackground, revision };
    this.#writeCall(call, () => startToolCall(this.#sql, start));
  }

  onProgress(call: Call): void {
    const { id: callId, logs, progress, revision } = call;
    this.#writeCall(call, () => saveCallProgress(this.#sql, { callId, logs, progress, revision }));
  }

  onSettled(call: Call): void {
    const { id: callId, outcome, finishedAt, revision } = call;
    if (!outcome) return;
    const { result, ...how } = outcome;
    const end = { callId, ...how, result: result && toObject(result), finishedAt, revision };
    this.#writeCall(call, () => settleToolCall(this.#sql, end));
  }

  onExtraAnswer(callId: string, answer: ExtraAnswer): void {
    this.#write(callId, () => recordExtraAnswer(this.#sql, { callId, ...answer }));
  }

  /** @throws {AppError} `unavailable` when the database stayed away; the first loss since the last turn began, if any */
  async durable(): Promise<void> {
    while (this.#chains.size > 0) await Promise.allSettled(this.#chains.values());
    await this.#writer.flush();
    if (this.#failure) throw this.#failure;
  }

  /** Stores what is left; the pool stays open. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#chains.values());
    await this.#writer.close().catch((error: AppError) => this.#events.onLost(error));
  }

  /** Tells that it is stored, also when a repeated write finds it so. */
  #writeCall(call: Call, operation: () => Promise<unknown>, after?: Promise<void>): void {
    const write = async () => {
      await operation();
      this.#events.onCallStored(call);
    };
    this.#write(call.id, write, after);
  }

  /** @param after what the first write of `key` waits for; if that fails, so does the write */
  #write(key: string, operation: () => Promise<void>, after: Promise<void> = Promise.resolve()): void {
    const before = this.#chains.get(key) ?? after;
    const write = before.then(() => retried(operation));
    this.#chains.set(key, write);
    write
      .catch((error: AppError) => {
        this.#failure ??= error;
        this.#events.onLost(error);
      })
      .finally(() => {
        if (this.#chains.get(key) === write) this.#chains.delete(key);
      });
  }
}

async function retried(operation: () => Promise<void>): Promise<void> {
  await pRetry(operation, {
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
