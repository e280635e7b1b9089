import type { Call } from "../../conversation/call.ts";
import type { TurnBlock } from "../../conversation/block.ts";
import type { InputPart, TurnRecord } from "../../conversation/turn-record.ts";
import type { StateUndo } from "../../conversation/state/state-change.ts";
import { TurnAbort } from "../../conversation/turn-abort.ts";
import { AppError } from "../../errors/app-error.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { MessageBody } from "../../protocol/messages/messages.ts";
import type { SpokenTimes } from "../room/voice-port.ts";

/** Everything needed to start a turn. */
export interface NewTurn {
  readonly participant: string;
  /** The id of the user's message, or `null` if the worker starts the turn itself. */
  readonly messageId: string | null;
  readonly input: readonly InputPart[];
  /** Whether the message is being answered again (ControlVariation). */
  readonly isVariation?: boolean;
  /** The turn that this one replaces in the history, together with all later turns (regenerate, edit). */
  readonly replaces?: Pick<TurnRecord, "id" | "messageId" | "position">;
  /** Whether the same words are answered again (regenerate), so that the results of hooks are already in `input`. */
  readonly isRepeated?: boolean;
  /** What replacing these turns undoes of the session's state. Set once the turn is about to run. */
  readonly undo?: StateUndo;
  /** Blocks that the turn starts with, before the model is called. */
  readonly opening?: readonly TurnBlock[];
  /** The `meta` of the message's envelope. */
  readonly meta?: JsonObject;
  /** When the message was spoken, if known. */
  readonly spoken?: SpokenTimes | undefined;
  /** Called when the turn is about to start. If it returns `true`, the turn is dropped. */
  readonly isStale?: () => boolean;
  /** Whether an earlier worker accepted the message. Clients may not have announced their tools to this worker yet. */
  readonly isInherited?: boolean;
}

/** A turn that an earlier worker left running, or whose answer it was still speaking, with the turn's stored calls. */
export interface UnfinishedTurn {
  readonly turn: TurnRecord;
  readonly calls: readonly Call[];
}

/** A waiting ControlVariation. It becomes a turn only when it runs, because its target may still be running. */
export interface VariationRequest {
  readonly participant: string;
  readonly variation: MessageBody<"control_variation">;
  readonly meta: JsonObject;
  /** Resolves to whether the variation was refused when it arrived. If so, it is dropped. Never rejects. */
  readonly refused: Promise<boolean>;
}

export type TurnInput = NewTurn | UnfinishedTurn;

/** A variation that this worker will not answer. */
interface Refused {
  readonly from: string;
  readonly id: string;
  readonly why: AppError;
}

/** How many turns of one participant may wait. */
const MAX_WAITING_EACH = 20;
/** How many turns may wait in total. */
const MAX_WAITING = 200;

/**
 * Runs a session's turns one at a time. Participants alternate. Turns of the same participant run in the order they
 * were added.
 */
export class TurnQueue {
  readonly #run: (input: TurnInput | VariationRequest, signal: AbortSignal) => Promise<void>;
  readonly #onIdle: () => void;
  readonly #waiting: (TurnInput | VariationRequest)[] = [];
  #current:
    | {
        readonly input: TurnInput | VariationRequest;
        readonly controller: AbortController;
        readonly done: Promise<void>;
      }
    | undefined;
  #isClosed = false;
  #isHeld = false;
  /** The participant whose turn ran last. */
  #last: string | undefined;

  /**
   * @param run resolves when the turn and the end of its speech are stored; never rejects
   * @param onIdle called when a turn has ended and none is waiting
   */
  constructor(run: (input: TurnInput | VariationRequest, signal: AbortSignal) => Promise<void>, onIdle: () => void) {
    this.#run = run;
    this.#onIdle = onIdle;
  }

  get isRunning(): boolean {
    return this.#current !== undefined;
  }

  /** Whether this user message is being answered or waits for its answer. */
  hasMessage(id: string): boolean {
    const known = this.#current ? [this.#current.input, ...this.#waiting] : this.#waiting;
    return known.some((input) => !("variation" in input) && messageOf(input) === id);
  }

  /** Whether a turn is waiting. */
  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Whether a turn is waiting that belongs to a different participant than the running turn. */
  get isOtherWaiting(): boolean {
    return this.#waiting.some((input) => participantOf(input) !== this.#last);
  }

  /** Whether no turn is running and none is about to start. */
  get isIdle(): boolean {
    return !this.isRunning && (this.#isHeld || !this.hasWaiting);
  }

  /** Whether a turn added now would start at once. */
  get isOpen(): boolean {
    return !this.isRunning && !this.hasWaiting && !this.#isHeld && !this.#isClosed;
  }

  /** Starts no turns from now on. Waiting and new turns are left to another worker. */
  hold(): void {
    this.#isHeld = true;
  }

  /** @throws {AppError} `queue_overflow` when too many turns are waiting, `unavailable` when the queue is shut */
  add(input: TurnInput | VariationRequest): void {
    if (this.#isClosed) throw stopping();
    const participant = participantOf(input);
    const ofSame = this.#waiting.filter((waiting) => participantOf(waiting) === participant);
    if (ofSame.length >= MAX_WAITING_EACH || this.#waiting.length >= MAX_WAITING) {
      throw new AppError("queue_overflow", "Too many messages are waiting for an answer");
    }
    this.#waiting.push(input);
    this.#next();
  }

  /** Ends the running turn early. The next one starts afterwards. */
  abort(kind: "interrupted" | "passed_over" | "stopped"): void {
    this.#current?.controller.abort(new TurnAbort(kind));
  }

  /**
   * Accepts no more turns. Returns the waiting variations, which will not be answered, so that the caller can notify
   * their senders.
   */
  shut(): readonly Refused[] {
    this.#isClosed = true;
    return this.#waiting.splice(0).flatMap((input) => {
      return "variation" in input ? [{ from: input.participant, id: input.variation.targetId, why: stopping() }] : [];
    });
  }

  /**
   * Waits up to `graceMs` for the running turn, then aborts it and waits for its end. Call this after `shut`.
   *
   * @param mayLeave called after `graceMs`. If it returns `true`, the turn is neither aborted nor awaited: the next
   *   worker resumes it
   */
  async close(graceMs: number, mayLeave: () => boolean): Promise<void> {
    const current = this.#current;
    if (!current) return;
    const released = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      if (mayLeave()) released.resolve();
      else current.controller.abort(new TurnAbort("closed"));
    }, graceMs);
    await Promise.race([current.done, released.promise]);
    clearTimeout(timer);
  }

  #next(): void {
    if (this.#current || this.#isClosed || this.#isHeld) return;
    // A turn that replaces another one also replaces all turns that would run before it.
    const replacing = this.#waiting.findIndex((waiting) => "replaces" in waiting && waiting.replaces);
    // Prefer the longest-waiting turn of another participant, so that one participant's many messages do not block the
    // others.
    const other = this.#waiting.findIndex((waiting) => participantOf(waiting) !== this.#last);
    const [input] = this.#waiting.splice(Math.max(replacing < 0 ? other : replacing, 0), 1);
    if (!input) return;
    this.#last = participantOf(input);
    const controller = new AbortController();
    const done = this.#run(input, controller.signal).finally(() => {
      this.#current = undefined;
      this.#next();
      if (!this.isRunning && !this.#isClosed) this.#onIdle();
    });
    this.#current = { input, controller, done };
  }
}

export function participantOf(input: TurnInput | VariationRequest): string {
  return "turn" in input ? input.turn.participantIdentity : input.participant;
}

/** Whether participants may interrupt the turn. */
export function isInterruptible(input: TurnInput): boolean {
  const parts = "turn" in input ? input.turn.input : input.input;
  return parts.every((part) => part.type !== "note" || part.isInterruptible !== false);
}

/** Returns the id of the message that a turn answers or varies, for an ErrorMessage about it. */
export function messageOf(input: TurnInput | VariationRequest): string | undefined {
  if ("variation" in input) return input.variation.targetId;
  return ("turn" in input ? input.turn.parentMessageId : input.messageId) ?? undefined;
}

/**
 * Returns the part of a turn that comes from an earlier worker, or `undefined` if all of it is new. Clients may have to
 * announce their tools again for such a turn.
 */
export function inheritedPart(
  begin: TurnInput,
): (Pick<TurnRecord, "participantIdentity" | "blocks"> & Pick<UnfinishedTurn, "calls">) | undefined {
  if ("turn" in begin) return { ...begin.turn, calls: begin.calls };
  return begin.isInherited ? { participantIdentity: begin.participant, blocks: [], calls: [] } : undefined;
}

function stopping(): AppError {
  return new AppError("unavailable", "The worker is stopping: send the message again once another agent has joined");
}
