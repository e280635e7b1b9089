import { AppError } from "../../errors/app-error.ts";
import { keepNewest } from "../../lib/keep-newest.ts";
import { decodeEnvelope, type Incoming } from "../../protocol/codec/codec.ts";
import { MalformedMessageError } from "../../protocol/messages/parse-message.ts";
import type { Message } from "../../protocol/messages/messages.ts";

const REMEMBERED_STANZAS = 2_000;
/** A worker reads what we have missed from its database within 2 s. */
const HOLD_MS = 3_000;

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
  /** Who has sent the last frame. */
  #agent: string | undefined;
  /** Behind this number we may have missed something: of the agents before this one, or before it was announced. */
  #sureUntil: number | undefined;
  #asked = 0;
  /** Whether the worker has acknowledged what we asked for. */
  #isTold = false;
  /** What has come since we doubt, by number. What we have missed comes later, and is handed on before. */
  #held: Map<number, () => void> | undefined;
  #holding: ReturnType<typeof setTimeout> | undefined;

  constructor(ports: IncomingPorts) {
    this.#ports = ports;
  }

  /** For the Configuration that is sent now: the worker sends again what follows this number. `undefined` at first. */
  tellLastSeen(): number | undefined {
    if (this.#sureUntil !== undefined) this.#hold();
    return this.#sureUntil ?? (this.#lastSeen || undefined);
  }

  /**
   * To be called when the Configuration is on its way. After its Ack comes what we have missed, and then the worker's
   * Configuration.
   */
  noteAsked(stanzaId: number): void {
    this.#asked = stanzaId;
  }

  /** To be called when the connection is lost, or the agent. */
  noteLost(): void {
    if (this.#lastSeen > 0) this.#doubt(this.#lastSeen);
  }

  /** Drops what is held. */
  close(): void {
    clearTimeout(this.#holding);
    this.#held = undefined;
  }

  /**
   * Takes a frame whose sender LiveKit has not announced, most often the agent's first. Its content is not trusted and
   * not kept: once the agent is announced, our Configuration asks for it again.
   */
  miss(bytes: Uint8Array): void {
    const stanzaId = this.#decode(bytes)?.stanzaId ?? 0;
    if (stanzaId < 0) this.#doubt(-stanzaId - 1);
  }

  handle(bytes: Uint8Array, from: string): void {
    const incoming = this.#decode(bytes, (error) => this.#report(error, from));
    if (!incoming) return;
    const number = Math.abs(incoming.stanzaId);
    const isNewest = number > this.#lastSeen;
    const isNew = this.#take(number, from);
    if (!("message" in incoming)) return;
    const { type, body } = incoming.message;
    if (type === "acknowledgement" && body.acknowledgedStanzaId === this.#asked) this.#isTold = true;
    // What comes again stands in its place now.
    const isHeld = this.#held?.delete(number) ?? false;
    // A request that comes again wants its result again, which may be lost.
    if (!isNew && !isHeld && type !== "tool_use_request") return;
    // One that is not the newest is among what we have missed.
    if (this.#isTold && type === "configuration" && isNewest) {
      this.#sureUntil = undefined;
      this.#release();
    }
    const { traceparent } = incoming.meta;
    const trace = typeof traceparent === "string" ? traceparent : undefined;
    const handOn = () => this.#ports.onMessage(incoming.message, incoming.stanzaId, trace);
    if (this.#held && number > 0 && type !== "configuration") this.#held.set(number, handOn);
    else handOn();
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
      if (!this.#take(Math.abs(error.parts.stanzaId ?? 0), from)) return;
      if (error.parts.typeName === "tool_use_request") this.#ports.onMalformedRequest(error);
    }
    this.#ports.onError(error);
  }

  /** Takes a number without its sign. Returns `false` for a repeated message. Acks have the number 0 and are never repeated. */
  #take(stanzaId: number, from: string): boolean {
    // A worker that follows another one may send something new before it sends what the other one did not.
    if (this.#agent !== undefined && this.#agent !== from) this.#doubt(this.#lastSeen);
    this.#agent = from;
    if (stanzaId === 0) return true;
    const key = `${stanzaId} ${from}`;
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    keepNewest(this.#seen, REMEMBERED_STANZAS);
    this.#lastSeen = Math.max(this.#lastSeen, stanzaId);
    return true;
  }

  #doubt(after: number): void {
    this.#sureUntil = Math.min(this.#sureUntil ?? after, after);
    this.#isTold = false;
    if (!this.#held) this.#hold();
  }

  #release(): void {
    const held = this.#held;
    this.close();
    for (const handOn of held?.values() ?? []) handOn();
  }

  #hold(): void {
    clearTimeout(this.#holding);
    this.#held ??= new Map();
    this.#holding = setTimeout(() => this.#release(), HOLD_MS);
  }
}
