import { AppError } from "../../errors/app-error.ts";
import { refuseUnknownFields } from "../../lib/checks/did-you-mean.ts";
import { encodeEnvelope } from "../../protocol/codec/codec.ts";
import { MESSAGE_LIMITS } from "../../protocol/limits.ts";
import { type Message, MESSAGES } from "../../protocol/messages/messages.ts";
import { Unacknowledged } from "./unacknowledged.ts";

/**
 * How long a send may take before it counts as failed. During an outage, a send can hang until the connection is back.
 */
const SEND_DEADLINE_MS = 10_000;
const MAX_QUEUED = 1_000;

interface ClientOutboxOptions {
  readonly conversationId: () => string;
  readonly publish: (bytes: Uint8Array, way: "packet" | "stream") => Promise<void>;
}

export interface SentMessage {
  readonly stanzaId: number;
  readonly sizeBytes: number;
  /** Resolves when the message is in LiveKit's local buffer. Only an Ack proves delivery. */
  readonly sent: Promise<void>;
}

/** Numbers our messages from 1 and starts sending them in order, at most 8 at a time. */
export class ClientOutbox {
  readonly #options: ClientOutboxOptions;
  readonly #queue: (() => void)[] = [];
  readonly unacknowledged = new Unacknowledged();
  #lastStanza = 0;
  #inFlight = 0;

  constructor(options: ClientOutboxOptions) {
    this.#options = options;
  }

  /**
   * Encodes a message and queues it.
   *
   * @param way `stream` forces a byte stream; messages over 15,000 bytes always use one
   * @param traceparent the span that the message belongs to (W3C Trace Context)
   * @throws {AppError} `too_large` or `internal`, synchronously, when the message cannot be encoded
   * @throws {TypeError} for an unknown field of the message
   */
  send(message: Message, way: "packet" | "stream" = "packet", traceparent?: string): SentMessage {
    refuseUnknownFields(message.body, Object.keys(MESSAGES[message.type].shape.entries), message.type);
    const isAck = message.type === "acknowledgement";
    const stanzaId = isAck ? 0 : this.#lastStanza + 1;
    const meta = traceparent === undefined ? {} : { traceparent };
    const bytes = encodeEnvelope({ stanzaId, conversationId: this.#options.conversationId(), meta, message });
    if (!isAck) this.#lastStanza = stanzaId;
    const isLong = bytes.length > MESSAGE_LIMITS.packetBytes;
    const publish = (by: "packet" | "stream") => this.#enqueue(() => this.#options.publish(bytes, by));
    const sent = publish(isLong ? "stream" : way);
    sent.catch(() => {});
    // AgentLink resends Configurations itself, because an old one must not arrive after a newer one.
    if (message.type !== "configuration" && !isAck) {
      // The worker may have dropped the first packet because it did not know the sender. A stream identifies its
      // sender.
      this.unacknowledged.add(stanzaId, bytes.length, () => void publish("stream").catch(() => {}));
    }
    return { stanzaId, sizeBytes: bytes.length, sent };
  }

  /** Resolves when everything was sent, or after `timeoutMs`. */
  async drain(timeoutMs: number): Promise<void> {
    const isEmpty = () => this.#inFlight === 0 && this.#queue.length === 0;
    const until = Date.now() + timeoutMs;
    while (!isEmpty() && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  #enqueue(publish: () => Promise<void>): Promise<void> {
    if (this.#queue.length >= MAX_QUEUED) {
      return Promise.reject(new AppError("queue_overflow", "Too many messages are waiting to be sent"));
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#queue.push(() => {
      this.#inFlight += 1;
      void withDeadline(publish)
        .then(resolve, reject)
        .finally(() => {
          this.#inFlight -= 1;
          this.#next();
        });
    });
    this.#next();
    return promise;
  }

  #next(): void {
    if (this.#inFlight < MESSAGE_LIMITS.sendsInFlight) this.#queue.shift()?.();
  }
}

async function withDeadline(publish: () => Promise<void>): Promise<void> {
  const deadline = Promise.withResolvers<never>();
  const fail = () =>
    deadline.reject(new AppError("unavailable", `The message could not be sent within ${SEND_DEADLINE_MS} ms`));
  const timer = setTimeout(fail, SEND_DEADLINE_MS);
  try {
    await Promise.race([publish(), deadline.promise]);
  } finally {
    clearTimeout(timer);
  }
}
