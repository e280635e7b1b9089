import { AppError } from "../../errors/app-error.ts";
import { keepNewest } from "../../lib/keep-newest.ts";
import { decodeEnvelope, type Incoming } from "../../protocol/codec/codec.ts";
import { MalformedMessageError } from "../../protocol/messages/parse-message.ts";
import type { Message } from "../../protocol/messages/messages.ts";

const REMEMBERED_STANZAS = 2_000;

interface IncomingPorts {
  readonly onMessage: (message: Message, stanzaId: number, traceparent: string | undefined) => void;
  /** A malformed ToolUseRequest: nothing is run, and the worker must be told. */
  readonly onMalformedRequest: (error: MalformedMessageError) => void;
  readonly onError: (error: AppError) => void;
}

/** Reads agents' frames. Hands on each message once, but for tool requests; no content makes it throw. */
export class IncomingMessages {
  readonly #ports: IncomingPorts;
  readonly #seen = new Set<string>();
  #lastSeen = 0;
  #firstMissed: number | undefined;

  constructor(ports: IncomingPorts) {
    this.#ports = ports;
  }

  /** For our next Configuration: the worker sends again what follows this number. `undefined` at first. */
  get lastSequenceSeen(): number | undefined {
    if (this.#firstMissed !== undefined) return this.#firstMissed - 1;
    return this.#lastSeen === 0 ? undefined : this.#lastSeen;
  }

  /** To be called when the worker has acknowledged a Configuration, and so knows `lastSequenceSeen`. */
  forgetMissed(): void {
    this.#firstMissed = undefined;
  }

  /**
   * Takes a frame whose sender LiveKit has not announced, most often the agent's first. Its content is not trusted and
   * not kept: once the agent is announced, our Configuration asks for it again.
   */
  miss(bytes: Uint8Array): void {
    const stanzaId = this.#decode(bytes)?.stanzaId ?? 0;
    if (stanzaId < 0) this.#firstMissed = Math.min(this.#firstMissed ?? Infinity, -stanzaId);
  }

  handle(bytes: Uint8Array, from: string): void {
    const incoming = this.#decode(bytes, (error) => this.#report(error, from));
    if (!incoming) return;
    const isNew = this.#take(incoming.stanzaId, from);
    if (!("message" in incoming)) return;
    // A request that comes again wants its result again, which may be lost.
    if (!isNew && incoming.message.type !== "tool_use_request") return;
    const { traceparent } = incoming.meta;
    const trace = typeof traceparent === "string" ? traceparent : undefined;
    this.#ports.onMessage(incoming.message, incoming.stanzaId, trace);
  }

  #decode(bytes: Uint8Array, onError: (error: AppError) => void = () => {}): Incoming | undefined {
    try {
      return decodeEnvelope(bytes);
    } catch (error) {
      onError(
        error instanceof AppError ? error : new AppError("internal", "A packet cannot be read", { cause: error }),
      );
      return undefined;
    }
  }

  #report(error: AppError, from: string): void {
    if (error instanceof MalformedMessageError) {
      if (!this.#take(error.parts.stanzaId ?? 0, from)) return;
      if (error.parts.typeName === "tool_use_request") this.#ports.onMalformedRequest(error);
    }
    this.#ports.onError(error);
  }

  /** Returns `false` for a repeated message. Acks have the number 0 and are never repeated. */
  #take(stanzaId: number, from: string): boolean {
    if (stanzaId === 0) return true;
    const key = `${Math.abs(stanzaId)} ${from}`;
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    keepNewest(this.#seen, REMEMBERED_STANZAS);
    this.#lastSeen = Math.max(this.#lastSeen, Math.abs(stanzaId));
    return true;
  }
}
