import type { Logger } from "pino";
import type { SessionEvent } from "../events/session-event.ts";

/** What can be done with a room as a call, by LiveKit's API. Each rejects when LiveKit refuses. */
export interface CallLine {
  /**
   * Takes a participant out of the room, and closes the room when nobody else is left in it. Without a participant it
   * closes the room.
   */
  readonly hangUp: (identity?: string) => Promise<void>;
  /** Refers a caller by telephone to `tel:…` or `sip:…`. It leaves the room then. */
  readonly transfer: (identity: string, to: string) => Promise<void>;
  /** Sends one key, 0 to 9, `*`, `#` or A to D, to all callers. */
  readonly press: (key: string) => Promise<void>;
  /** A caller by telephone that is in the room. */
  readonly isOnPhone: (identity: string) => boolean;
}

interface Ending {
  /** In whose turn the call is to end. */
  readonly participant: string;
  /** Nobody stays in the room. */
  readonly isForAll: boolean;
}

/**
 * Our last words are on their way to the participant while LiveKit is asked to take it out of the room, and would be lost
 * if that were quicker.
 */
const LAST_WORDS_MS = 1_000;

/** Ends the call when the last words have been said. What a participant says over them, or at once after, keeps it going. */
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

  /** The agent has ended the call, for a participant or for all. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Ends the call when this participant's turn, which runs, has ended by itself. */
  afterTurn(ending: Ending): void {
    this.#ending = ending;
  }

  watch(event: SessionEvent): void {
    if (event.type !== "turn") return;
    const { participantIdentity, input } = event.turn;
    if (event.event.type === "turn_start") {
      this.noteSaid(participantIdentity);
      const isLast = input.some((part) => part.type === "note" && part.endsCall);
      this.#ending = isLast ? { participant: participantIdentity, isForAll: true } : undefined;
    }
    if (event.event.type !== "turn_complete" || this.#ending?.participant !== participantIdentity) return;
    const ending = this.#ending;
    this.#ending = undefined;
    if (event.event.state !== "completed") return;
    const timer = setTimeout(() => this.now(ending.isForAll ? undefined : ending.participant), LAST_WORDS_MS);
    this.#leaving = { ...ending, timer };
  }

  /** This participant says something, or begins to. If it was to leave, alone or with all, nobody is taken out. */
  noteSaid(identity: string): void {
    if (!this.#leaving) return;
    const { participant, isForAll, timer } = this.#leaving;
    if (isForAll || participant === identity) clearTimeout(timer);
  }

  /** Ends it at once: for a participant, else for all. */
  now(identity?: string): void {
    // The room may be gone before the answer is here.
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
