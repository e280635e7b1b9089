import type { AppError } from "../../errors/app-error.ts";
import { evictOldest } from "../../lib/evict-oldest.ts";
import { decodeTrusted, type Incoming } from "../../protocol/codec/codec.ts";
import { unpackStanzaId } from "../../protocol/codec/unpack.ts";
import type { MalformedMessageError } from "../../protocol/messages/parse-message.ts";
import type { Message } from "../../protocol/messages/messages.ts";

const REMEMBERED_STANZAS = 2_000;
/** How long newer messages are held while missed ones are resent. A worker loads them from its database within 2 s. */
const HOLD_MS = 3_000;

interface IncomingPorts {
  readonly onMessage: (message: Message, stanzaId: number, traceparent: string | undefined) => void;
  /** Called for a malformed ToolUseRequest. It is not run, but the worker must receive an error. */
  readonly onMalformedRequest: (error: MalformedMessageError) => void;
  readonly onError: (error: AppError) => void;
}

/**
 * Reads the agents' frames. Delivers each message once, except tool requests, which may repeat. Never throws, whatever
 * a frame contains.
 */
export class IncomingMessages {
  readonly #ports: IncomingPorts;
  readonly #seen = new Set<string>();
  #lastSeen = 0;
  /** The sender of the last frame. */
  #agent: string | undefined;
  /**
   * The number up to which we have received every message. Later messages may be missing, because a previous agent sent
   * them or because they arrived before the agent was announced. Undefined if nothing is missing.
   */
  #completeUntil: number | undefined;
  /** Whether the worker has acknowledged our request for missed messages. */
  #isConfigured = false;
  /** Messages received since `#completeUntil` was set, by number. They are delivered after the missed messages. */
  readonly #held = new Map<number, () => void>();
  #holding: ReturnType<typeof setTimeout> | undefined;

  constructor(ports: IncomingPorts) {
    this.#ports = ports;
  }

  /**
   * Returns the `lastSequenceSeen` for the next Configuration: the worker resends all messages after this number.
   * Returns `undefined` before the first message.
   */
  resendAfter(): number | undefined {
    if (this.#completeUntil !== undefined) this.#hold();
    return this.#completeUntil ?? (this.#lastSeen || undefined);
  }

  /**
   * Call this when the worker has acknowledged our Configuration. The worker then sends the missed messages, followed
   * by its own Configuration.
   */
  handleAcknowledged(): void {
    this.#isConfigured = true;
  }

  /** Call this when the connection or the agent is lost. */
  handleLost(): void {
    if (this.#lastSeen > 0) this.#markIncompleteAfter(this.#lastSeen);
  }

  /** Drops held messages. */
  close(): void {
    clearTimeout(this.#holding);
    this.#holding = undefined;
    this.#held.clear();
  }

  /**
   * Handles a frame whose sender LiveKit has not announced, usually the agent's first frame. The frame's content is not
   * trusted, so it is dropped. Once the agent is announced, our Configuration requests the message again.
   */
  handleUnknownSender(bytes: Uint8Array): void {
    try {
      const stanzaId = unpackStanzaId(bytes);
      if (typeof stanzaId === "number" && stanzaId < 0) this.#markIncompleteAfter(-stanzaId - 1);
    } catch {
      // The frame is malformed. The worker sends it again, and `handle` then reports the error.
    }
  }

  handle(bytes: Uint8Array, from: string): void {
    let incoming: Incoming;
    try {
      incoming = decodeTrusted(bytes);
    } catch (error) {
      const malformed = error as MalformedMessageError;
      const { stanzaId = 0, typeName } = malformed.parts;
      if (!this.#take(Math.abs(stanzaId), from)) return;
      if (typeName === "tool_use_request") this.#ports.onMalformedRequest(malformed);
      return this.#ports.onError(malformed);
    }
    const number = Math.abs(incoming.stanzaId);
    const isNewest = number > this.#lastSeen;
    const isNew = this.#take(number, from);
    if (!("message" in incoming)) return;
    const { type } = incoming.message;
    // A resent message replaces the held one and moves to the end.
    const isHeld = this.#held.delete(number);
    // A repeated tool request needs its result again, because the result may have been lost.
    if (!isNew && !isHeld && type !== "tool_use_request") return;
    // An older Configuration is one of the missed messages and does not end the resend.
    if (this.#isConfigured && type === "configuration" && isNewest) {
      this.#completeUntil = undefined;
      this.#release();
    }
    const { traceparent } = incoming.meta;
    const trace = typeof traceparent === "string" ? traceparent : undefined;
    const deliver = () => this.#ports.onMessage(incoming.message, incoming.stanzaId, trace);
    if (this.#holding && number > 0 && type !== "configuration") this.#held.set(number, deliver);
    else deliver();
  }

  /**
   * Registers a message by the absolute value of its number. Returns `false` for a repeated message. Acks have number 0
   * and never repeat.
   */
  #take(stanzaId: number, from: string): boolean {
    // A new worker may send new messages before it resends those that the previous worker could not deliver.
    if (this.#agent !== undefined && this.#agent !== from) this.#markIncompleteAfter(this.#lastSeen);
    this.#agent = from;
    if (stanzaId === 0) return true;
    const key = `${stanzaId} ${from}`;
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    evictOldest(this.#seen, REMEMBERED_STANZAS);
    this.#lastSeen = Math.max(this.#lastSeen, stanzaId);
    return true;
  }

  #markIncompleteAfter(stanzaId: number): void {
    this.#completeUntil = Math.min(this.#completeUntil ?? stanzaId, stanzaId);
    this.#isConfigured = false;
    if (!this.#holding) this.#hold();
  }

  #release(): void {
    const held = [...this.#held.values()];
    this.close();
    for (const deliver of held) deliver();
  }

  #hold(): void {
    clearTimeout(this.#holding);
    this.#holding = setTimeout(() => this.#release(), HOLD_MS);
  }
}
