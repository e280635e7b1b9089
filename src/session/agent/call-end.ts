import type { Logger } from "pino";
import type { SessionEvent } from "../events/session-event.ts";
import type { CallLine } from "./call-line.ts";

interface Ending {
  /** In whose turn the call is to end. */
  readonly participant: string;
  /** Nobody stays in the room. */
  readonly isForAll: boolean;
}

/** Ends the call when the last words have been said. What a participant says over them keeps it going. */
export class CallEnd {
  readonly #line: Pick<CallLine, "hangUp">;
  readonly #logger: Logger;
  #ending: Ending | undefined;

  constructor(line: Pick<CallLine, "hangUp">, logger: Logger) {
    this.#line = line;
    this.#logger = logger;
  }

  /** Ends the call when this participant's turn has ended by itself: the one that runs, or the next. */
  afterTurn(ending: Ending): void {
    this.#ending = ending;
  }

  watch(event: SessionEvent): void {
    if (event.type !== "turn" || event.event.type !== "turn_complete") return;
    const ending = this.#ending;
    if (ending?.participant !== event.turn.participantIdentity) return;
    this.#ending = undefined;
    if (event.event.state === "completed") this.now(ending.isForAll ? undefined : ending.participant);
  }

  /** Ends it at once: for a participant, else for all. */
  now(identity?: string): void {
    this.#line.hangUp(identity).then(
      () => this.#logger.info("the call was ended"),
      (error: unknown) => this.#logger.error({ error }, "the call could not be ended"),
    );
  }
}
