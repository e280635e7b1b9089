import PQueue from "p-queue";
import { AppError } from "../../errors/app-error.ts";
import { createId } from "../../lib/id.ts";
import type { JsonObject } from "../../lib/json.ts";
import { encodeEnvelope } from "../../protocol/codec/codec.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { type Message, isKept } from "../../protocol/messages/messages.ts";
import { type Replay, StanzaLog } from "../../protocol/stanza-log.ts";
import { toWireError } from "../../protocol/wire-error.ts";

/** How long a send may take before it fails. Without a limit, it could hang for as long as LiveKit is unreachable. */
const SEND_DEADLINE_MS = 10_000;
const MAX_QUEUED = 2_000;

interface OutboxOptions {
  readonly conversationId: string;
  readonly stanzas: StanzaCounter;
  /** The highest stanza number that an earlier worker may have used, as a positive number; 0 if there was none. */
  readonly sentBefore: number;
  readonly publish: (bytes: Uint8Array, to: readonly string[] | undefined) => Promise<void>;
  /** Called when a posted message could not be sent. Must not throw. */
  readonly onFailed: (type: Message["type"], error: unknown) => void;
}

export interface Destination {
  /** The identities to send to. @defaultValue everyone in the room */
  readonly to?: readonly string[];
  readonly meta?: JsonObject;
}

interface Refusal {
  readonly originatingId: string | undefined;
  readonly retryAfterMs: number;
}

/**
 * Sends all of a session's protocol messages in order, at most 8 at a time. Numbers them, and retains those that
 * clients may need after a reconnect (`isKept`). When a send resolves, the message is only in the local buffer. Only a
 * reply proves delivery.
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
   * Sends a message.
   *
   * @returns the stanza's number (negative); `sent`, which resolves once it is in the local buffer; and whether it is
   *   sent as a stream, which later packets may overtake
   * @throws {AppError} `too_large` or `internal`, synchronously, if the message cannot be encoded
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

  /** Sends a message without waiting, and reports a failure to `onFailed`. If `to` is empty, nothing is sent. */
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

  /** The number of the last message sent, as a positive number. */
  get lastStanza(): number {
    return this.#options.stanzas.last;
  }

  /** Sends an Ack. It has stanzaId 0 and is not retained. */
  acknowledge(acknowledgedStanzaId: number, to: string, success = true): void {
    const message: Message = { type: "acknowledgement", body: { acknowledgedStanzaId, success } };
    const bytes = encodeEnvelope({ stanzaId: 0, conversationId: this.#options.conversationId, message });
    this.#publish(bytes, [to]).catch((error: unknown) => this.#options.onFailed(message.type, error));
  }

  postError(error: unknown, to: string, originatingId?: string): void {
    this.post({ type: "error_message", body: toWireError(error, { id: createId(), originatingId }) }, { to: [to] });
  }

  /** Tells a sender that its message was rejected and when to send it again. */
  postRefusal(error: AppError, to: string, { originatingId, retryAfterMs }: Refusal): void {
    const body = { ...toWireError(error, { id: createId(), originatingId }), retryAfterMs };
    this.post({ type: "error_message", body }, { to: [to] });
  }

  /**
   * Returns the retained messages for `identity` after the last stanza it saw.
   *
   * @throws {AppError} `too_many` if resending them would fill more than half of the send queue
   */
  missedBy(identity: string, lastSequenceSeen: number): Replay {
    const missed = this.#log.after(lastSequenceSeen, identity);
    if (this.#queue.size + missed.entries.length > MAX_QUEUED / 2) {
      throw new AppError("too_many", "Too many messages are waiting to be sent: ask for older messages later");
    }
    return missed;
  }

  /** Sends retained messages again, unchanged. */
  sendAgain(entries: Replay["entries"], identity: string): void {
    for (const { bytes } of entries) this.#publish(bytes, [identity]).catch(() => {});
  }

  /** Resolves once the send queue is empty. Each send has a deadline, so this always settles. */
  async drain(): Promise<void> {
    await this.#queue.onIdle();
  }

  #publish(bytes: Uint8Array, to: readonly string[] | undefined): Promise<void> {
    if (this.#queue.size >= MAX_QUEUED) {
      return Promise.reject(new AppError("queue_overflow", `More than ${MAX_QUEUED} messages are waiting to be sent`));
    }
    return this.#queue.add(() => this.#options.publish(bytes, to));
  }
}

const RESERVED_AT_ONCE = 1_000;
const RESERVE_BELOW = 200;

/**
 * The worker's stanza numbers: -1, -2, -3 and so on. Numbers are reserved in the store ahead of time, so taking one
 * never waits. No number is used twice in a session, even after a crash, except those taken while the store was
 * unreachable.
 */
export class StanzaCounter {
  #last: number;
  #reservedUntil: number;
  readonly #reserve: (count: number) => Promise<number>;
  #isReserving = false;

  /** @param reserve reserves `count` more numbers in the store, and resolves to the first one as a positive number */
  constructor(reserve: (count: number) => Promise<number>, first: number) {
    this.#reserve = reserve;
    this.#last = first - 1;
    this.#reservedUntil = first + RESERVED_AT_ONCE - 1;
  }

  static async open(reserve: (count: number) => Promise<number>): Promise<StanzaCounter> {
    return new StanzaCounter(reserve, await reserve(RESERVED_AT_ONCE));
  }

  /** The last number taken, as a positive number. */
  get last(): number {
    return this.#last;
  }

  next(): number {
    this.#last += 1;
    if (this.#reservedUntil - this.#last < RESERVE_BELOW) void this.#reserveMore();
    return -this.#last;
  }

  /**
   * Reserves more numbers in the store. While the store is unreachable, `next` continues beyond the reserved numbers,
   * because otherwise no message could be sent.
   */
  async #reserveMore(): Promise<void> {
    if (this.#isReserving) return;
    this.#isReserving = true;
    try {
      const first = await this.#reserve(RESERVED_AT_ONCE);
      this.#reservedUntil = first + RESERVED_AT_ONCE - 1;
    } catch {
      // Ignored: the next number tries again.
    } finally {
      this.#isReserving = false;
    }
  }
}

/**
 * Requests that are sent as streams. Packets may overtake a stream, so messages that follow such a request wait for it.
 */
export class StreamedRequests {
  readonly #streaming = new Map<string, Promise<void>>();

  follow(id: string, sent: Promise<void>): void {
    const over = sent.catch(() => {});
    this.#streaming.set(id, over);
    void over.then(() => this.#streaming.get(id) === over && this.#streaming.delete(id));
  }

  /** Calls `send` after the request with this id: at once, unless its stream is still being sent. */
  after(id: string, send: () => void): void {
    const streaming = this.#streaming.get(id);
    if (streaming) void streaming.then(send);
    else send();
  }
}
