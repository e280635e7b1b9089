import type { Logger } from "pino";
import { endsTurn, type SessionEvent } from "../events/session-event.ts";

/** What LiveKit's API can do with a call. Each method rejects when LiveKit refuses. */
export interface CallLine {
  /**
   * Removes a participant from the room, and closes the room when nobody else is left in it. Without an identity it
   * closes the room.
   */
  readonly hangUp: (identity?: string) => Promise<void>;
  /** Transfers a caller by telephone to `tel:…` or `sip:…`. The caller then leaves the room. */
  readonly transfer: (identity: string, to: string) => Promise<void>;
  /** Sends one key, 0 to 9, `*`, `#` or A to D, to all callers. */
  readonly press: (key: string) => Promise<void>;
  /** Whether this participant is in the room and calls by telephone. */
  readonly isOnPhone: (identity: string) => boolean;
}

interface Ending {
  /** The call ends after the turn of this participant. */
  readonly participant: string;
  /** Whether the room is closed for all. */
  readonly isForAll: boolean;
}

/**
 * How long the last words may take to reach the participant, before LiveKit is asked to remove it: words that are still
 * on their way then are lost.
 */
const LAST_WORDS_MS = 1_000;

/** Ends the call after the last words. A participant that speaks over them, or just after them, keeps it going. */
export class CallEnd {
  readonly #line: Pick<CallLine, "hangUp">;
  readonly #logger: Logger;
  #ending: Ending | undefined;
  #leaving: (Ending & { readonly timer: NodeJS.Timeout }) | undefined;
  #isEnded = false;

  constructor(line: Pick<CallLine, "hangUp">, logger: Logger) {
    this.#line = line;
    this.#logger = logger;
  }

  /** Whether the agent has ended the call, for a participant or for all. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Ends the call once the running turn of this participant has completed and its whole answer was said. */
  afterTurn(ending: Ending): void {
    this.#ending = ending;
  }

  watch(event: SessionEvent): void {
    if (event.type !== "turn") return;
    const { participantIdentity: participant, input } = event.turn;
    if (event.event.type === "turn_start") {
      this.noteSaid(participant);
      this.#ending = undefined;
    }
    if (!endsTurn(event)) return;
    const isLast = input.some((part) => part.type === "note" && part.endsCall);
    const ending = isLast ? { participant, isForAll: true } : this.#ending;
    if (ending?.participant !== participant) return;
    this.#ending = undefined;
    if (!("state" in event.event) || event.event.state !== "completed") return;
    const timer = setTimeout(() => this.now(ending.isForAll ? undefined : ending.participant), LAST_WORDS_MS);
    this.#leaving = { ...ending, timer };
  }

  /** A participant says something, or begins to. If the call was about to end for it, the call goes on. */
  noteSaid(identity: string): void {
    if (!this.#leaving) return;
    const { participant, isForAll, timer } = this.#leaving;
    if (isForAll || participant === identity) clearTimeout(timer);
  }

  /** Ends the call at once: for a participant, or without one for all. */
  now(identity?: string): void {
    // Set before the request, because the room may be closed before its answer comes.
    this.#isEnded = true;
    this.#line.hangUp(identity).then(
      () => this.#logger.info("the call was ended"),
      (error: unknown) => {
        this.#isEnded = false;
        this.#logger.error({ error }, "the call could not be ended");
      },
    );
  }
}
