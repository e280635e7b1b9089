import type { Logger } from "pino";
import { endsTurn, type SessionEvent } from "../events/session-event.ts";

/** LiveKit's API for a call. Each method rejects if LiveKit refuses the request. */
export interface CallLine {
  /**
   * Removes a participant from the room, and closes the room if nobody else is left in it. Without an identity, closes
   * the room.
   */
  readonly hangUp: (identity?: string) => Promise<void>;
  /** Transfers a phone caller to `tel:…` or `sip:…`. The caller then leaves the room. */
  readonly transfer: (identity: string, to: string) => Promise<void>;
  /** Sends one key (0 to 9, `*`, `#` or A to D) to all phone callers. */
  readonly press: (key: string) => Promise<void>;
  /** Whether this participant is in the room and joined by phone. */
  readonly isOnPhone: (identity: string) => boolean;
}

interface Ending {
  /** The participant whose turn must end before the call does. */
  readonly participant: string;
  /** Whether the call ends for everyone, by closing the room. */
  readonly isForAll: boolean;
}

/** How long to wait after the last words before removing the participant. Audio still in transit by then is lost. */
const LAST_WORDS_MS = 1_000;

/**
 * Ends the call after the agent's last words. If the participant speaks over them, or just after them, the call
 * continues.
 */
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

  /** Whether the agent has ended the call, for one participant or for everyone. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Ends the call once this participant's running turn has completed and its whole answer has been played. */
  afterTurn(ending: Ending): void {
    this.#ending = ending;
  }

  watch(event: SessionEvent): void {
    if (event.type !== "turn") return;
    const { participantIdentity: participant, input } = event.turn;
    if (event.event.type === "turn_start") {
      this.handleUserActivity(participant);
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

  /**
   * Call this when a participant speaks or types, or begins to. If the call was about to end for this participant, the
   * call continues.
   */
  handleUserActivity(identity: string): void {
    if (!this.#leaving) return;
    const { participant, isForAll, timer } = this.#leaving;
    if (isForAll || participant === identity) clearTimeout(timer);
  }

  /** Ends the call immediately, for one participant or, without an identity, for everyone. */
  now(identity?: string): void {
    // Set before the request, because the room may close before the response arrives.
    this.#isEnded = true;
    this.#line.hangUp(identity).then(
      () => this.#logger.info("agent hung up"),
      (error: unknown) => {
        this.#isEnded = false;
        this.#logger.error({ error }, "hang-up failed");
      },
    );
  }
}
