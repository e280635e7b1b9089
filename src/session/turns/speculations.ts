import { HeldStream } from "../../lib/held-stream.ts";
import type { ModelEvent } from "../../llm/model-event.ts";
import { Speaker } from "../answer/speaker.ts";
import type { ChatCall, ChatObserver, OpenStream } from "./open-stream.ts";

/** So many calls may be made for one turn that come to nothing, as a participant goes on speaking. */
const MAX_PER_TURN = 2;
/** Of the last turns so many are looked at. For each of them so many calls may have been made in vain, on average. */
const LOOKED_AT = 10;
const MAX_VOID_A_TURN = 0.4;
/** In a new session, too. */
const MIN_VOID = 2;
/** The participant has said something, and no turn came of it. */
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
  /** BCP 47; of the answer. */
  readonly language?: string | undefined;
  /** Makes the sound of the answer's first sentence. Returns what throws it away. @defaultValue no sound is made early */
  readonly prepare?: ((sentence: string) => () => void) | undefined;
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
  /** How many calls came to nothing, for each of the last turns. */
  #void: readonly number[] = [0];

  constructor(onEnd: (end: "adopted" | "void") => void) {
    this.#onEnd = onEnd;
  }

  /** `false` while too many of the last came to nothing: this participant's pauses are no ends. */
  get mayBegin(): boolean {
    const voided = this.#void.reduce((sum, count) => sum + count, 0);
    return voided < Math.max(MIN_VOID, MAX_VOID_A_TURN * this.#void.length) && this.#begun < MAX_PER_TURN;
  }

  /** A turn begins, whether it was speculated on or not. */
  noteTurn(): void {
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

  /** What a turn's model call takes instead of making it. Whatever was asked for another one is dropped. */
  take(asked: Asked): Adopted | undefined {
    const attempt = this.#attempt;
    if (!attempt) return undefined;
    const { held, known } = attempt;
    // A call that has failed or has not even begun is made anew.
    if (!known.call || held.hasFailed || attempt.key !== keyOf(asked)) {
      this.drop();
      return undefined;
    }
    this.#end(attempt, true);
    return { call: known.call, stream: (signal) => held.read(signal) };
  }

  /** Cuts off what was asked for in vain. */
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

/** Tells the first sentence of an answer, once it is whole. */
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
