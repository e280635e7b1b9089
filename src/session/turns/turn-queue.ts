import type { Call } from "../../conversation/call.ts";
import type { TurnBlock } from "../../conversation/block.ts";
import type { InputPart, TurnRecord } from "../../conversation/turn-record.ts";
import { TurnAbort } from "../../conversation/turn-abort.ts";
import { AppError } from "../../errors/app-error.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { MessageBody } from "../../protocol/messages/messages.ts";
import type { SpokenTimes } from "../room/voice-port.ts";

/** What begins a turn. */
export interface NewTurn {
  readonly participant: string;
  /** The user message's id; `null` if the worker begins the turn itself. */
  readonly messageId: string | null;
  readonly input: readonly InputPart[];
  /** Whether the message has been answered before (ControlVariation). */
  readonly isVariation?: boolean;
  /** The turn that this one replaces in the history, with all after it (regenerate, edit). */
  readonly replaces?: Pick<TurnRecord, "id" | "messageId" | "position">;
  /** Blocks that the turn begins with, before the model is asked. */
  readonly opening?: readonly TurnBlock[];
  /** The `meta` of the envelope that the message came in. */
  readonly meta?: JsonObject;
  /** When the message was spoken, if that is known. */
  readonly spoken?: SpokenTimes | undefined;
  /** Asked when the turn would begin: if true, it is dropped. */
  readonly isStale?: () => boolean;
  /** Whether an earlier worker took the message, so that clients have not announced their tools to this one yet. */
  readonly isLeft?: boolean;
}

/** A turn that an earlier worker left running, or whose answer it was still speaking; with the turn's stored calls. */
export interface UnfinishedTurn {
  readonly turn: TurnRecord;
  readonly calls: readonly Call[];
}

/** A ControlVariation that waits. It becomes a turn only when it runs: the turn that it names may still be running. */
export interface VariationRequest {
  readonly participant: string;
  readonly variation: MessageBody<"control_variation">;
  readonly meta: JsonObject;
}

export type TurnInput = NewTurn | UnfinishedTurn;

/** A variation that this worker will not answer. */
interface Refused {
  readonly from: string;
  readonly id: string;
  readonly why: AppError;
}

/** How many turns may wait: of one participant, and of all. */
const MAX_WAITING_EACH = 20;
const MAX_WAITING = 200;

/** Runs a session's turns one after another. Participants take turns; those of one participant run in the order of `add`. */
export class TurnQueue {
  readonly #run: (input: TurnInput | VariationRequest, signal: AbortSignal) => Promise<void>;
  readonly #onIdle: () => void;
  readonly #waiting: (TurnInput | VariationRequest)[] = [];
  #current: { readonly controller: AbortController; readonly done: Promise<void> } | undefined;
  #isClosed = false;
  #isHeld = false;
  /** Whose turn ran last. */
  #last: string | undefined;

  /**
   * @param run never rejects; resolves when the turn, and the end of its speech, are stored
   * @param onIdle called when a turn has ended and none waits
   */
  constructor(run: (input: TurnInput | VariationRequest, signal: AbortSignal) => Promise<void>, onIdle: () => void) {
    this.#run = run;
    this.#onIdle = onIdle;
  }

  get isRunning(): boolean {
    return this.#current !== undefined;
  }

  /** Whether another turn waits for the running one to end. */
  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Whether a turn of another participant than the running one's waits. */
  get isOtherWaiting(): boolean {
    return this.#waiting.some((input) => participantOf(input) !== this.#last);
  }

  /** Whether no turn runs, and none is about to. */
  get isIdle(): boolean {
    return !this.isRunning && (this.#isHeld || !this.hasWaiting);
  }

  /** Whether a turn that came now would begin at once. */
  get isOpen(): boolean {
    return !this.isRunning && !this.hasWaiting && !this.#isHeld && !this.#isClosed;
  }

  /** From now on no turn begins: new ones wait for another worker. */
  hold(): void {
    this.#isHeld = true;
  }

  /** @throws {AppError} `queue_overflow` when too many wait, `unavailable` when the queue is shut */
  add(input: TurnInput | VariationRequest): void {
    if (this.#isClosed) throw stopping();
    const participant = participantOf(input);
    const ofSame = this.#waiting.filter((waiting) => participantOf(waiting) === participant);
    if (ofSame.length >= MAX_WAITING_EACH || this.#waiting.length >= MAX_WAITING) {
      throw new AppError("queue_overflow", "Too many messages wait for an answer");
    }
    this.#waiting.push(input);
    this.#next();
  }

  /** Ends the running turn early. The next one begins then. */
  abort(kind: "interrupted" | "passed_over" | "stopped"): void {
    this.#current?.controller.abort(new TurnAbort(kind));
  }

  /**
   * Takes no more turns. Returns the variations that waited and will not be answered, so that the caller can tell their
   * senders.
   */
  shut(): readonly Refused[] {
    this.#isClosed = true;
    return this.#waiting.splice(0).flatMap((input) => {
      return "variation" in input ? [{ from: input.participant, id: input.variation.targetId, why: stopping() }] : [];
    });
  }

  /**
   * Call after `shut`. Lets the running turn end by itself for `graceMs`, then aborts it, and waits for its end.
   *
   * @param isLeft asked after `graceMs`; `true`: the turn is not aborted or waited for, the next worker takes it up
   */
  async close(graceMs: number, isLeft: () => boolean): Promise<void> {
    const current = this.#current;
    if (!current) return;
    const left = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      if (isLeft()) left.resolve();
      else current.controller.abort(new TurnAbort("closed"));
    }, graceMs);
    await Promise.race([current.done, left.promise]);
    clearTimeout(timer);
  }

  #next(): void {
    if (this.#current || this.#isClosed || this.#isHeld) return;
    // The one of another participant that has waited longest, so that nobody's many messages hold up the others.
    const other = this.#waiting.findIndex((waiting) => participantOf(waiting) !== this.#last);
    const [input] = this.#waiting.splice(Math.max(other, 0), 1);
    if (!input) return;
    this.#last = participantOf(input);
    const controller = new AbortController();
    const done = this.#run(input, controller.signal).finally(() => {
      this.#current = undefined;
      this.#next();
      if (!this.isRunning && !this.#isClosed) this.#onIdle();
    });
    this.#current = { controller, done };
  }
}

export function participantOf(input: TurnInput | VariationRequest): string {
  return "turn" in input ? input.turn.participantIdentity : input.participant;
}

/** The id of the message that a turn answers or varies, for an ErrorMessage about it. */
export function messageOf(input: TurnInput | VariationRequest): string | undefined {
  if ("variation" in input) return input.variation.targetId;
  return ("turn" in input ? input.turn.parentMessageId : input.messageId) ?? undefined;
}

/** What an earlier worker left of a turn, which clients may have to announce their tools for again. */
export function leftOf(
  begin: TurnInput,
): (Pick<TurnRecord, "participantIdentity" | "blocks"> & Pick<UnfinishedTurn, "calls">) | undefined {
  if ("turn" in begin) return { ...begin.turn, calls: begin.calls };
  return begin.isLeft ? { participantIdentity: begin.participant, blocks: [], calls: [] } : undefined;
}

function stopping(): AppError {
  return new AppError("unavailable", "The worker is stopping: send it again when another agent is there");
}
