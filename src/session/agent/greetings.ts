import type { Logger } from "pino";
import type { InputNote } from "../../conversation/turn-record.ts";
import type { NewTurn } from "../turns/turn-queue.ts";
import type { SessionAgents } from "./session-agents.ts";

type Greeting = NonNullable<SessionAgents["current"]["greeting"]>;

export interface GreetingsOptions {
  readonly agents: SessionAgents;
  /** Whether the participant has already had a turn in this conversation, even with an earlier worker. */
  readonly hasTurns: (identity: string) => Promise<boolean>;
  readonly isPresent: (identity: string) => boolean;
  /** @throws {AppError} when too many turns are waiting, or the session is ending */
  readonly begin: (turn: NewTurn) => void;
  readonly logger: Logger;
}

/**
 * How long a greeting waits for the client's Configuration, which sets the language. Ordinary LiveKit clients never
 * send one.
 */
const CONFIGURATION_WAIT_MS = 1_000;

/** Returns the start of a greeting's note. The model is shown this note instead of a message. */
export function arrivalOf(identity: string): string {
  return `${JSON.stringify(identity)} has joined, and has said nothing yet.`;
}

/** Greets each participant once per conversation, unless the participant speaks first. */
export class Greetings {
  readonly #options: GreetingsOptions;
  /** Participants that were greeted or have spoken. */
  readonly #met = new Set<string>();
  readonly #spoke = new Set<string>();
  readonly #arriving = new Map<string, NodeJS.Timeout>();

  constructor(options: GreetingsOptions) {
    this.#options = options;
  }

  handleJoined({ identity, isSip }: { readonly identity: string; readonly isSip: boolean }): void {
    if (this.#options.agents.current.greeting === undefined || this.#met.has(identity)) return;
    this.handleLeft(identity);
    const wait = isSip ? 0 : CONFIGURATION_WAIT_MS;
    this.#arriving.set(
      identity,
      setTimeout(() => void this.#greet(identity), wait),
    );
  }

  /** Call this when the participant's client has sent its Configuration. */
  handleReady(identity: string): void {
    if (this.#arriving.has(identity)) void this.#greet(identity);
  }

  handleLeft(identity: string): void {
    clearTimeout(this.#arriving.get(identity));
    this.#arriving.delete(identity);
  }

  handleUserActivity(identity: string): void {
    this.handleLeft(identity);
    this.#met.add(identity);
    this.#spoke.add(identity);
  }

  close(): void {
    for (const identity of this.#arriving.keys()) this.handleLeft(identity);
  }

  async #greet(identity: string): Promise<void> {
    const { hasTurns, agents, begin, logger, isPresent } = this.#options;
    this.handleLeft(identity);
    if (this.#met.has(identity)) return;
    this.#met.add(identity);
    const isStale = () => this.#spoke.has(identity) || !isPresent(identity);
    try {
      if (await hasTurns(identity)) return;
      const { greeting } = agents.current;
      if (greeting === undefined || isStale()) return;
      begin({ participant: identity, messageId: null, input: [noteOf(identity, greeting)], isStale });
    } catch (error) {
      this.#met.delete(identity);
      logger.warn({ error }, "greeting failed");
    }
  }
}

function noteOf(identity: string, greeting: Greeting): InputNote {
  const who = arrivalOf(identity);
  if (typeof greeting === "string") return noteOf(identity, { say: greeting });
  const held = greeting.interruptible === false && ({ isInterruptible: false } as const);
  if ("say" in greeting) return { type: "note", note: `${who} You speak first.`, say: greeting.say, ...held };
  return { type: "note", note: `${who} Speak first: ${greeting.ask}`, ...held };
}
