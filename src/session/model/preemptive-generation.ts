import { BufferedStream } from "../../lib/buffered-stream.ts";
import type { ModelEvent } from "../../llm/model-event.ts";
import { SpokenPieces } from "../answer/first-clause.ts";
import type { ChatCall, ChatObserver, OpenStream } from "./open-stream.ts";

/** The maximum number of preemptive calls per turn. Each is wasted if the participant keeps speaking. */
const MAX_PER_TURN = 2;
/** The number of recent turns in which unused calls are counted. */
const RECENT_TURNS = 10;
/** At this average number of unused calls per recent turn, no more preemptive calls are made. */
const MAX_UNUSED_PER_TURN = 0.4;
/** The number of unused calls below which preemptive calls are always allowed, for example in a new session. */
const MIN_UNUSED = 2;
/** How long a preemptive call is held for a turn that uses it. After that, the call is dropped. */
const DROP_AFTER_MS = 10_000;

export type StreamRequest = Omit<Parameters<OpenStream>[0], "observe">;

interface Attempt {
  readonly key: string;
  readonly held: BufferedStream<ModelEvent>;
  readonly timer: NodeJS.Timeout;
  readonly known: {
    /** Absent until the call has begun. */
    call?: ChatCall;
    /** Discards the audio of the first piece. */
    discardPrepared?: (() => void) | undefined;
  };
}

interface Means {
  readonly openStream: OpenStream;
  /** The language of the answer, BCP 47. */
  readonly language?: string | undefined;
  /** Synthesizes the first piece; the returned function discards it. @defaultValue nothing is synthesized early */
  readonly prepare?: ((piece: string) => () => void) | undefined;
}

/** A preemptive call, handed to the turn that needs it. */
interface Adopted {
  readonly call: ChatCall;
  readonly stream: (signal: AbortSignal) => AsyncIterable<ModelEvent>;
}

/**
 * Preemptive generation: model calls made before it is certain that a participant has finished. Their events are held
 * back: nothing is spoken, stored, sent or run, and no permission is requested. A turn that would make the identical
 * call uses the preemptive one. Otherwise, the call is cut off, and only its cost is counted.
 */
export class PreemptiveGeneration {
  readonly #onEnd: (end: "adopted" | "void") => void;
  #attempt: Attempt | undefined;
  #begun = 0;
  /** The number of unused calls in each recent turn. */
  #unusedPerTurn: readonly number[] = [0];

  constructor(onEnd: (end: "adopted" | "void") => void) {
    this.#onEnd = onEnd;
  }

  /** Whether another call may be made: the turn's limit is not reached, and few enough recent calls went unused. */
  get mayBegin(): boolean {
    const unused = this.#unusedPerTurn.reduce((sum, count) => sum + count, 0);
    return (
      unused < Math.max(MIN_UNUSED, MAX_UNUSED_PER_TURN * this.#unusedPerTurn.length) && this.#begun < MAX_PER_TURN
    );
  }

  /** Call this when a turn begins, whether or not a preemptive call was made for that turn. */
  beginTurn(): void {
    this.#begun = 0;
    this.#unusedPerTurn = [...this.#unusedPerTurn, 0].slice(-RECENT_TURNS);
  }

  begin(request: StreamRequest, { openStream, language, prepare }: Means): void {
    const key = keyOf(request);
    if (this.#attempt?.key === key) return;
    this.drop();
    this.#begun += 1;
    const known: Attempt["known"] = {};
    const observe: ChatObserver = (call, stream) => {
      known.call = call;
      return stream;
    };
    const onEvent = firstPiece(language, (piece) => (known.discardPrepared = prepare?.(piece)));
    const held = new BufferedStream((signal) => openStream({ ...request, observe }, signal), onEvent);
    this.#attempt = { key, held, known, timer: setTimeout(() => this.drop(), DROP_AFTER_MS) };
  }

  /** Returns the preemptive call if it is identical to the turn's call. Otherwise, drops it. */
  take(request: StreamRequest): Adopted | undefined {
    const attempt = this.#attempt;
    if (!attempt) return undefined;
    const { held, known } = attempt;
    // If the call failed or has not even begun, the turn makes its own.
    if (!known.call || held.hasFailed || attempt.key !== keyOf(request)) {
      this.drop();
      return undefined;
    }
    this.#end(attempt, true);
    return { call: known.call, stream: (signal) => held.read(signal) };
  }

  /** Cuts off the preemptive call. */
  drop(): void {
    const attempt = this.#attempt;
    if (!attempt) return;
    attempt.held.abort();
    attempt.known.discardPrepared?.();
    this.#end(attempt, false);
  }

  #end({ timer }: Attempt, isAdopted: boolean): void {
    clearTimeout(timer);
    this.#attempt = undefined;
    if (!isAdopted) this.#unusedPerTurn = [...this.#unusedPerTurn.slice(0, -1), (this.#unusedPerTurn.at(-1) ?? 0) + 1];
    this.#onEnd(isAdopted ? "adopted" : "void");
  }
}

function keyOf({
  history,
  toolChoice,
  containerId,
  isCompacted,
  tools,
  participant,
  instructions,
}: StreamRequest): string {
  const offered = tools.map(({ name, description, inputSchema, owner }) => [name, description, inputSchema, owner]);
  return JSON.stringify([participant, instructions, history, toolChoice, containerId, isCompacted, offered]);
}

/** Calls `onFirst` once the first piece of an answer that the voice receives is complete. */
function firstPiece(language: string | undefined, onFirst: (piece: string) => void): (event: ModelEvent) => void {
  const pieces = new SpokenPieces(language);
  let hasFirst = false;
  return (event) => {
    if (hasFirst) return;
    const isText = event.type === "block_delta" && event.delta.type === "text";
    const complete = isText ? pieces.write(event.delta.text) : event.type === "block_stop" ? [pieces.end()] : [];
    const first = complete.map((piece) => piece.trim()).find((piece) => piece !== "");
    if (first === undefined) return;
    hasFirst = true;
    onFirst(first);
  };
}
