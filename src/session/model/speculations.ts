import { HeldStream } from "../../lib/held-stream.ts";
import type { ModelEvent } from "../../llm/model-event.ts";
import { Speaker } from "../answer/speaker.ts";
import type { ChatCall, ChatObserver, OpenStream } from "./open-stream.ts";

/** The most calls that are made ahead for one turn: a participant that goes on speaking makes them useless. */
const MAX_PER_TURN = 2;
/** How many of the last turns are looked at, and how many useless calls each may have had, on average. */
const LOOKED_AT = 10;
const MAX_VOID_A_TURN = 0.4;
/** This many useless calls are always allowed, as in a new session. */
const MIN_VOID = 2;
/** A call is dropped when no turn has begun by then. */
const VOID_AFTER_MS = 10_000;

type Asked = Omit<Parameters<OpenStream>[0], "observe">;

interface Attempt {
  readonly key: string;
  readonly held: HeldStream<ModelEvent>;
  readonly timer: NodeJS.Timeout;
  readonly known: {
    /** Absent until the call has begun. */
    call?: ChatCall;
    /** Throws away the sound of the first sentence. */
    unprepare?: (() => void) | undefined;
  };
}

interface Means {
  readonly openStream: OpenStream;
  /** The language of the answer, BCP 47. */
  readonly language?: string | undefined;
  /** Makes the sound of the first sentence; the returned function drops it. @defaultValue no sound is made early */
  readonly prepare?: ((sentence: string) => () => void) | undefined;
}

/** A model call that was made ahead, for the turn that needs it. */
interface Adopted {
  readonly call: ChatCall;
  readonly stream: (signal: AbortSignal) => AsyncIterable<ModelEvent>;
}

/**
 * Model calls that are made ahead, while it is not certain that a participant has finished. Their events wait here:
 * nothing of them is heard, stored, sent, asked or run. A turn that would make the very same call takes this one.
 * Otherwise the call is cut off, and only its cost is kept.
 */
export class Speculations {
  readonly #onEnd: (end: "adopted" | "void") => void;
  #attempt: Attempt | undefined;
  #begun = 0;
  /** The number of useless calls of each of the last turns. */
  #void: readonly number[] = [0];

  constructor(onEnd: (end: "adopted" | "void") => void) {
    this.#onEnd = onEnd;
  }

  /** `false` while too many of the last calls were useless: pauses are no ends then. */
  get mayBegin(): boolean {
    const voided = this.#void.reduce((sum, count) => sum + count, 0);
    return voided < Math.max(MIN_VOID, MAX_VOID_A_TURN * this.#void.length) && this.#begun < MAX_PER_TURN;
  }

  /** A turn begins, whether it was speculated on or not. */
  beginTurn(): void {
    this.#begun = 0;
    this.#void = [...this.#void, 0].slice(-LOOKED_AT);
  }

  begin(asked: Asked, { openStream, language, prepare }: Means): void {
    const key = keyOf(asked);
    if (this.#attempt?.key === key) return;
    this.drop();
    this.#begun += 1;
    const known: Attempt["known"] = {};
    const observe: ChatObserver = (call, stream) => {
      known.call = call;
      return stream;
    };
    const onEvent = firstSentence(language, (sentence) => (known.unprepare = prepare?.(sentence)));
    const held = new HeldStream((signal) => openStream({ ...asked, observe }, signal), onEvent);
    this.#attempt = { key, held, known, timer: setTimeout(() => this.drop(), VOID_AFTER_MS) };
  }

  /** Gives a turn the call that was made ahead, if it is the same. Any other call is dropped. */
  take(asked: Asked): Adopted | undefined {
    const attempt = this.#attempt;
    if (!attempt) return undefined;
    const { held, known } = attempt;
    // A call that has failed, or has not even begun, is made anew by the turn.
    if (!known.call || held.hasFailed || attempt.key !== keyOf(asked)) {
      this.drop();
      return undefined;
    }
    this.#end(attempt, true);
    return { call: known.call, stream: (signal) => held.read(signal) };
  }

  /** Cuts off the call that was made ahead. */
  drop(): void {
    const attempt = this.#attempt;
    if (!attempt) return;
    attempt.held.abort();
    attempt.known.unprepare?.();
    this.#end(attempt, false);
  }

  #end({ timer }: Attempt, isAdopted: boolean): void {
    clearTimeout(timer);
    this.#attempt = undefined;
    if (!isAdopted) this.#void = [...this.#void.slice(0, -1), (this.#void.at(-1) ?? 0) + 1];
    this.#onEnd(isAdopted ? "adopted" : "void");
  }
}

function keyOf({ history, toolChoice, containerId, isCut, tools, participant, instructions }: Asked): string {
  const offered = tools.map(({ name, description, inputSchema, owner }) => [name, description, inputSchema, owner]);
  return JSON.stringify([participant, instructions, history, toolChoice, containerId, isCut, offered]);
}

/** Finds the first sentence of an answer, and calls `onFirst` when it is complete. */
function firstSentence(language: string | undefined, onFirst: (sentence: string) => void): (event: ModelEvent) => void {
  let isTold = false;
  const onSentence = ({ text }: { readonly text: string }) => {
    if (!isTold && text !== "") onFirst(text);
    isTold = true;
  };
  const speaker = new Speaker({ onSentence, onText: () => {} }, { language });
  return (event) => {
    if (isTold) return;
    if (event.type === "block_delta" && event.delta.type === "text") speaker.write(event.delta.text);
    if (event.type === "block_stop") speaker.flush();
  };
}
