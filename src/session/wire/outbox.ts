import PQueue from "p-queue";
import { AppError } from "../../errors/app-error.ts";
import { createId } from "../../lib/id.ts";
import { type JsonObject } from "../../lib/json.ts";
import { encodeEnvelope } from "../../protocol/codec/codec.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { type Message, isKept } from "../../protocol/messages/messages.ts";
import { type Replay, StanzaLog } from "../../protocol/stanza-log.ts";
import { toWireError } from "../../protocol/wire-error.ts";

/** A send can hang for a whole outage; after this long it has failed. */
const SEND_DEADLINE_MS = 10_000;
const MAX_QUEUED = 2_000;

interface OutboxOptions {
  readonly conversationId: string;
  readonly stanzas: StanzaCounter;
  /** The last stanza number of an earlier worker in this session, positive; 0 for none. */
  readonly sentBefore: number;
  readonly publish: (bytes: Uint8Array, to: readonly string[] | undefined) => Promise<void>;
  /** A message that nobody waits for could not be sent; must not throw. */
  readonly onFailed: (type: Message["type"], error: unknown) => void;
}

export interface Destination {
  /** Identities; absent means everyone in the room. */
  readonly to?: readonly string[];
  readonly meta?: JsonObject;
}

/**
 * Everything that the worker says goes through here: numbered, kept for a reconnect, and sent in order with at most
 * 8 sends in flight. A resolved send means "in the local buffer": only an answer proves delivery.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #log: StanzaLog;
  readonly #queue = new PQueue({ concurrency: LIMITS.sendsInFlight, timeout: SEND_DEADLINE_MS });

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#log = new StanzaLog({ sentBefore: options.sentBefore });
  }

  /**
   * @returns the stanza's number, when it is in the local buffer, and whether it goes as a stream, which what is sent
   *   after it may overtake
   * @throws {AppError} `too_large` or `internal` at once, when the message cannot be encoded
   */
  send(
    message: Message,
    { to, meta = {} }: Destination = {},
  ): { stanzaId: number; sent: Promise<void>; isStream: boolean } {
    const stanzaId = this.#options.stanzas.next();
    const { conversationId } = this.#options;
    const bytes = encodeEnvelope({ stanzaId, conversationId, meta, message });
    if (isKept(message)) this.#log.add({ stanzaId, bytes, destinations: to ?? "all" });
    return { stanzaId, sent: this.#publish(bytes, to), isStream: bytes.length > LIMITS.packetBytes };
  }

  /** Sends what nobody waits for; a failure is reported, never thrown. An empty `to` is nobody: nothing is sent. */
  post(message: Message, destination: Destination = {}): void {
    if (destination.to?.length === 0) return;
    try {
      this.send(message, destination).sent.catch((error: unknown) => this.#options.onFailed(message.type, error));
    } catch (error) {
      this.#options.onFailed(message.type, error);
    }
  }

  get conversationId(): string {
    return this.#options.conversationId;
  }

  /** The number of the last message that was sent, positive. */
  get lastStanza(): number {
    return this.#options.stanzas.last;
  }

  /** Acks carry stanzaId 0 and are not kept. */
  acknowledge(acknowledgedStanzaId: number, to: string, success = true): void {
    const message: Message = { type: "acknowledgement", body: { acknowledgedStanzaId, success } };
    const bytes = encodeEnvelope({ stanzaId: 0, conversationId: this.#options.conversationId, message });
    this.#publish(bytes, [to]).catch((error: unknown) => this.#options.onFailed(message.type, error));
  }

  postError(error: unknown, to: string, originatingId?: string): void {
    this.post({ type: "error_message", body: toWireError(error, { id: createId(), originatingId }) }, { to: [to] });
  }

  /**
   * What `identity` was sent after the stanza that it saw last, as far as it is held.
   *
   * @throws {AppError} `too_many` when so much waits to be sent that nothing new would get through
   */
  missedBy(identity: string, lastSequenceSeen: number): Replay {
    const missed = this.#log.after(lastSequenceSeen, identity);
    if (this.#queue.size + missed.entries.length > MAX_QUEUED / 2) {
      throw new AppError("too_many", "Too much waits to be sent: ask for older messages later");
    }
    return missed;
  }

  /** Sends again, unchanged. */
  sendAgain(entries: Replay["entries"], identity: string): void {
    for (const { bytes } of entries) this.#publish(bytes, [identity]).catch(() => {});
  }

  /** Waits for what is queued; the deadline of each send bounds it. */
  async drain(): Promise<void> {
    await this.#queue.onIdle();
  }

  #publish(bytes: Uint8Array, to: readonly string[] | undefined): Promise<void> {
    if (this.#queue.size >= MAX_QUEUED) {
      return Promise.reject(new AppError("queue_overflow", `More than ${MAX_QUEUED} messages wait to be sent`));
    }
    return this.#queue.add(() => this.#options.publish(bytes, to));
  }
}

const RESERVED_AT_ONCE = 1_000;
const RESERVE_BELOW = 200;

/**
 * The worker's stanza numbers: -1, -2, -3 and on, never the same twice in a session, not even after a crash. Numbers
 * are reserved in the store ahead of time, so taking one never waits.
 */
export class StanzaCounter {
  #last: number;
  #reservedUntil: number;
  readonly #reserve: (count: number) => Promise<number>;
  #isReserving = false;

  /** @param reserve stores that `count` more numbers are in use and resolves with the first of them, positive */
  constructor(reserve: (count: number) => Promise<number>, first: number) {
    this.#reserve = reserve;
    this.#last = first - 1;
    this.#reservedUntil = first + RESERVED_AT_ONCE - 1;
  }

  static async open(reserve: (count: number) => Promise<number>): Promise<StanzaCounter> {
    return new StanzaCounter(reserve, await reserve(RESERVED_AT_ONCE));
  }

  /** The last number that was taken, positive. */
  get last(): number {
    return this.#last;
  }

  next(): number {
    this.#last += 1;
    if (this.#reservedUntil - this.#last < RESERVE_BELOW) void this.#reserveMore();
    return -this.#last;
  }

  /** While the store is away numbers go on past what is reserved: a message is worth more than a gapless restart. */
  async #reserveMore(): Promise<void> {
    if (this.#isReserving) return;
    this.#isReserving = true;
    try {
      const first = await this.#reserve(RESERVED_AT_ONCE);
      this.#reservedUntil = first + RESERVED_AT_ONCE - 1;
    } catch {
      // Tried again with the next number.
    } finally {
      this.#isReserving = false;
    }
  }
}

/** Requests that are on their way as streams, which packets overtake: what follows a request waits until it is out. */
export class StreamedRequests {
  readonly #streaming = new Map<string, Promise<void>>();

  follow(id: string, sent: Promise<void>): void {
    const over = sent.catch(() => {});
    this.#streaming.set(id, over);
    void over.then(() => this.#streaming.get(id) === over && this.#streaming.delete(id));
  }

  /** At once where nothing is on its way. */
  after(id: string, send: () => void): void {
    const streaming = this.#streaming.get(id);
    if (streaming) void streaming.then(send);
    else send();
  }
}
