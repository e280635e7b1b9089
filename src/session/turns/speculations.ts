import type { ModelEvent } from "../../llm/model-event.ts";
import type { ChatCall, ChatObserver, OpenStream } from "./open-stream.ts";

/** So many calls may be made for one turn that come to nothing, as a participant goes on speaking. */
const MAX_PER_TURN = 2;
/** Of the last turns so many are looked at, and at most this share may have been asked for in vain. */
const LOOKED_AT = 10;
const MAX_VOID_SHARE = 0.4;
const LEAST_LOOKED_AT = 5;
/** The participant has said something, and no turn came of it. */
const VOID_AFTER_MS = 10_000;

type Asked = Omit<Parameters<OpenStream>[0], "observe">;

interface Attempt {
  readonly key: string;
  readonly held: HeldStream;
  readonly timer: NodeJS.Timeout;
}

/** A model call that was made before it was certain that it is wanted, for the turn that wants it. */
interface Adopted {
  readonly call: ChatCall;
  readonly stream: (signal: AbortSignal) => AsyncIterable<ModelEvent>;
}

/**
 * Model calls that are made while it is not yet certain that a participant has said all. Their events wait here: nothing
 * is heard, stored, sent, asked or run of them. The turn that would make the very same call takes the one that was made;
 * otherwise the call is cut off, and what it cost is all that stays.
 */
export class Speculations {
  readonly #onEnd: (end: "adopted" | "void") => void;
  #attempt: Attempt | undefined;
  #begun = 0;
  /** Of the last turns that were speculated on: whether they took the call. */
  #ends: readonly boolean[] = [];

  constructor(onEnd: (end: "adopted" | "void") => void) {
    this.#onEnd = onEnd;
  }

  /** `false` once too many came to nothing: this participant's pauses are no ends. */
  get mayBegin(): boolean {
    const voided = this.#ends.filter((isAdopted) => !isAdopted).length;
    const isOff = this.#ends.length >= LEAST_LOOKED_AT && voided / this.#ends.length > MAX_VOID_SHARE;
    return !isOff && this.#begun < MAX_PER_TURN;
  }

  begin(asked: Asked, openStream: OpenStream): void {
    const key = keyOf(asked);
    if (this.#attempt?.key === key) return;
    this.drop();
    this.#begun += 1;
    const held = new HeldStream((observe, signal) => openStream({ ...asked, observe }, signal));
    this.#attempt = { key, held, timer: setTimeout(() => this.drop(), VOID_AFTER_MS) };
  }

  /** What a turn's model call takes instead of making it. Whatever was asked for another one is dropped. */
  take(asked: Asked): Adopted | undefined {
    const attempt = this.#attempt;
    this.#begun = 0;
    if (!attempt) return undefined;
    const adopted = attempt.key === keyOf(asked) ? attempt.held.adopted : undefined;
    if (adopted) this.#end(attempt, true);
    else this.drop();
    return adopted;
  }

  /** Cuts off what was asked for in vain. */
  drop(): void {
    const attempt = this.#attempt;
    if (!attempt) return;
    attempt.held.abort();
    this.#end(attempt, false);
  }

  #end({ timer }: Attempt, isAdopted: boolean): void {
    clearTimeout(timer);
    this.#attempt = undefined;
    this.#ends = [...this.#ends, isAdopted].slice(-LOOKED_AT);
    this.#onEnd(isAdopted ? "adopted" : "void");
  }
}

function keyOf({ history, toolChoice, containerId, isCut, tools, participant, instructions }: Asked): string {
  const offered = tools.map(({ name, description, inputSchema, owner }) => [name, description, inputSchema, owner]);
  return JSON.stringify([participant, instructions, history, toolChoice, containerId, isCut, offered]);
}

/** Reads a stream at once, and keeps what comes for a later reader. */
class HeldStream {
  readonly #controller = new AbortController();
  readonly #events: ModelEvent[] = [];
  #call: ChatCall | undefined;
  #end: { readonly error?: unknown } | undefined;
  #news = Promise.withResolvers<void>();

  constructor(open: (observe: ChatObserver, signal: AbortSignal) => AsyncIterable<ModelEvent>) {
    const observe: ChatObserver = (call, stream) => {
      this.#call = call;
      return stream;
    };
    void this.#read(() => open(observe, this.#controller.signal));
  }

  /** Absent when the call has failed, or has not even begun: the turn makes its own. */
  get adopted(): Adopted | undefined {
    if (!this.#call || (this.#end && "error" in this.#end)) return undefined;
    return { call: this.#call, stream: (signal) => this.#replay(signal) };
  }

  abort(reason?: unknown): void {
    this.#controller.abort(reason);
  }

  async #read(open: () => AsyncIterable<ModelEvent>): Promise<void> {
    try {
      for await (const event of open()) {
        this.#events.push(event);
        this.#tell();
      }
      this.#end = {};
    } catch (error) {
      this.#end = { error };
    }
    this.#tell();
  }

  #tell(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  async *#replay(signal: AbortSignal): AsyncGenerator<ModelEvent, void> {
    const abort = () => this.abort(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    try {
      for (;;) {
        const news = this.#news.promise;
        yield* this.#events.splice(0);
        if (this.#events.length > 0) continue;
        if (this.#end && "error" in this.#end) throw this.#end.error;
        if (this.#end) return;
        await news;
      }
    } finally {
      signal.removeEventListener("abort", abort);
      this.abort();
    }
  }
}
