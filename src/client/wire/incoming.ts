import type { AppError } from "../../errors/app-error.ts";
import { keepNewest } from "../../lib/keep-newest.ts";
import { decodeTrusted, type Incoming } from "../../protocol/codec/codec.ts";
import { unpackStanzaId } from "../../protocol/codec/unpack.ts";
import type { MalformedMessageError } from "../../protocol/messages/parse-message.ts";
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
  /** Whether the worker has acknowledged what we asked for. */
  #isTold = false;
  /** What has come since we doubt, by number. What we have missed comes later, and is handed on before. */
  readonly #held = new Map<number, () => void>();
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
   * To be called when the worker has acknowledged the Configuration. What we have missed comes next, and then the
   * worker's Configuration.
   */
  noteTold(): void {
    this.#isTold = true;
  }

  /** To be called when the connection is lost, or the agent. */
  noteLost(): void {
    if (this.#lastSeen > 0) this.#doubt(this.#lastSeen);
  }

  /** Drops what is held. */
  close(): void {
    clearTimeout(this.#holding);
    this.#holding = undefined;
    this.#held.clear();
  }

  /**
   * Takes a frame whose sender LiveKit has not announced, most often the agent's first. Its content is not trusted and
   * not kept: once the agent is announced, our Configuration asks for it again.
   */
  miss(bytes: Uint8Array): void {
    try {
      const stanzaId = unpackStanzaId(bytes);
      if (typeof stanzaId === "number" && stanzaId < 0) this.#doubt(-stanzaId - 1);
    } catch {
      // The worker sends it again, and then it is reported.
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
    // What comes again stands in its place now.
    const isHeld = this.#held.delete(number);
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
    if (this.#holding && number > 0 && type !== "configuration") this.#held.set(number, handOn);
    else handOn();
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
    if (!this.#holding) this.#hold();
  }

  #release(): void {
    const held = [...this.#held.values()];
    this.close();
    for (const handOn of held) handOn();
  }

  #hold(): void {
    clearTimeout(this.#holding);
    this.#holding = setTimeout(() => this.#release(), HOLD_MS);
  }
}
