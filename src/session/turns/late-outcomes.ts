import { toOutcomeTurn, type LateOutcome } from "./outcome-turn.ts";
import type { NewTurn } from "./turn-queue.ts";

interface LateOutcomePorts {
  /** Whether no turn runs or waits, and a participant is there to hear of an outcome. */
  readonly isPause: () => boolean;
  /** Resolves when nobody speaks; rejects with the signal's reason. */
  readonly untilQuiet: (signal: AbortSignal) => Promise<void>;
  readonly begin: (turn: NewTurn) => void;
}

/**
 * Keeps late outcomes until a turn tells the model of them: the participant's next turn, or, with `onResult: "speak"`,
 * a turn of its own at the next pause. None is lost at the session's end, because the calls are stored.
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

  /** Removes and returns the outcomes of this participant's calls, for a turn that begins with them. */
  take(participant: string): readonly LateOutcome[] {
    const isTaken = ({ call }: LateOutcome) => call.participant === participant;
    const taken = this.#waiting.filter(isTaken);
    this.#waiting = this.#waiting.filter((outcome) => !isTaken(outcome));
    return taken;
  }

  /** Begins a turn about the next outcome to speak of, if there is a pause and nobody speaks. Never rejects. */
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

  /** Begins no more turns. */
  close(): void {
    this.#closing.abort();
  }

  #next(): LateOutcome | undefined {
    if (this.#closing.signal.aborted) return undefined;
    return this.#ports.isPause() ? this.#waiting.find(({ onResult }) => onResult === "speak") : undefined;
  }
}
