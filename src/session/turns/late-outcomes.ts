import { toOutcomeTurn, type LateOutcome } from "./outcome-turn.ts";
import { type NewTurn } from "./turn-queue.ts";

interface LateOutcomePorts {
  /** No turn runs or waits, and somebody is there to hear of an outcome. */
  readonly isPause: () => boolean;
  /** Resolves when nobody speaks; rejects with the signal's reason. */
  readonly untilQuiet: (signal: AbortSignal) => Promise<void>;
  readonly begin: (turn: NewTurn) => void;
}

/**
 * Outcomes that the model was promised, until a turn tells it: the participant's next one, or, for what is to be spoken
 * of, one of its own at the next pause. What is still here when the session ends is in the record, as its calls are.
 */
export class LateOutcomes {
  readonly #ports: LateOutcomePorts;
  #waiting: readonly LateOutcome[] = [];
  readonly #closing = new AbortController();
  #isListening = false;

  constructor(ports: LateOutcomePorts) {
    this.#ports = ports;
  }

  add(outcome: LateOutcome): void {
    this.#waiting = [...this.#waiting, outcome];
    void this.speak();
  }

  /** Those that a turn of this participant begins with: they are its from now on. */
  take(participant: string): readonly LateOutcome[] {
    const isTaken = ({ call }: LateOutcome) => call.participant === participant;
    const taken = this.#waiting.filter(isTaken);
    this.#waiting = this.#waiting.filter((outcome) => !isTaken(outcome));
    return taken;
  }

  /** There may be a pause. Never rejects. */
  async speak(): Promise<void> {
    if (this.#isListening || !this.#next()) return;
    this.#isListening = true;
    const isQuiet = await this.#ports.untilQuiet(this.#closing.signal).then(
      () => true,
      () => false,
    );
    this.#isListening = false;
    const next = this.#next();
    if (!isQuiet || !next) return;
    const { participant } = next.call;
    this.#ports.begin(toOutcomeTurn(participant, this.take(participant)));
  }

  /** No more is spoken of. */
  close(): void {
    this.#closing.abort();
  }

  #next(): LateOutcome | undefined {
    if (this.#closing.signal.aborted) return undefined;
    return this.#ports.isPause() ? this.#waiting.find(({ onResult }) => onResult === "speak") : undefined;
  }
}
