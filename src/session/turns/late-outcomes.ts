import { toOutcomeTurn, type LateOutcome } from "./outcome-turn.ts";
import type { NewTurn } from "./turn-queue.ts";

interface LateOutcomePorts {
  /** Whether no turn is running or waiting, and a participant is present to hear an outcome. */
  readonly isPause: () => boolean;
  /** Resolves when nobody is speaking. Rejects with the signal's reason. */
  readonly untilQuiet: (signal: AbortSignal) => Promise<void>;
  readonly begin: (turn: NewTurn) => void;
}

/**
 * Holds late outcomes until a turn reports them to the model: the participant's next turn or, with `onResult: "speak"`,
 * a separate turn at the next pause. No outcome is lost when the session ends, because the calls are stored.
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

  /** Removes and returns the outcomes of this participant's calls, for a turn that will start with them. */
  take(participant: string): readonly LateOutcome[] {
    const isTaken = ({ call }: LateOutcome) => call.participant === participant;
    const taken = this.#waiting.filter(isTaken);
    this.#waiting = this.#waiting.filter((outcome) => !isTaken(outcome));
    return taken;
  }

  /**
   * Starts a turn about the next outcome with `onResult: "speak"`, if there is a pause and nobody is speaking. Never
   * rejects.
   */
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

  /** Starts no turns from now on. */
  close(): void {
    this.#closing.abort();
  }

  #next(): LateOutcome | undefined {
    if (this.#closing.signal.aborted) return undefined;
    return this.#ports.isPause() ? this.#waiting.find(({ onResult }) => onResult === "speak") : undefined;
  }
}
