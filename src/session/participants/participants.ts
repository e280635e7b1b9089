import type { Feature } from "../../protocol/messages/messages.ts";
import { devicesFor, type TurnDevice } from "../../tool/tool-routing.ts";
import { ParticipantState } from "./participant-state.ts";
import type { RoomParticipant } from "../room/room-input.ts";

/**
 * How many absent participants are kept. Each may have announced 128 kB of schemas, so without a limit, a client that
 * keeps joining under new identities would exhaust the memory.
 */
export const MAX_ABSENT = 50;

/** The participants of a session. The last ones to leave are retained, with their features, tools and language. */
export class Participants {
  readonly #participants = new Map<string, ParticipantState>();
  /** Identities of absent participants, in the order in which they left. */
  readonly #absent = new Set<string>();
  /**
   * Chosen languages by identity. Kept separately, because stored languages are loaded before their participants join.
   */
  readonly #languages = new Map<string, string>();

  /** Marks a participant as present. Returns the participant, and whether it has just joined or rejoined. */
  join(participant: RoomParticipant): { state: ParticipantState; isNewJoin: boolean } {
    this.#absent.delete(participant.identity);
    const known = this.#participants.get(participant.identity);
    if (known) return { state: known, isNewJoin: known.join(participant) };
    const state = new ParticipantState(participant);
    state.chosenLanguage = this.#languages.get(state.identity);
    this.#participants.set(state.identity, state);
    return { state, isNewJoin: true };
  }

  setLanguage(identity: string, language: string): void {
    this.#languages.set(identity, language);
    const state = this.#participants.get(identity);
    if (state) state.chosenLanguage = language;
  }

  leave(identity: string): void {
    const state = this.#participants.get(identity);
    if (!state) return;
    state.isPresent = false;
    this.#absent.delete(identity);
    this.#absent.add(identity);
    for (const oldest of this.#absent) {
      if (this.#absent.size <= MAX_ABSENT) return;
      this.#absent.delete(oldest);
      this.#participants.delete(oldest);
    }
  }

  get(identity: string): ParticipantState | undefined {
    return this.#participants.get(identity);
  }

  get isEmpty(): boolean {
    return this.present.length === 0;
  }

  /** Whether anybody may hear the agent. `true` for an empty room, because somebody may be about to join. */
  get hasListener(): boolean {
    return this.isEmpty || this.present.some(({ listens }) => listens);
  }

  isPresent(identity: string): boolean {
    return this.#participants.get(identity)?.isPresent ?? false;
  }

  /** Returns the identities of present participants that enabled a feature. */
  withFeature(feature: Feature): string[] {
    return this.present.filter((state) => state.features.has(feature)).map((state) => state.identity);
  }

  /** Returns the identities of absent participants that had enabled a feature. */
  absentWithFeature(feature: Feature): string[] {
    return [...this.#participants.values()]
      .filter((state) => !state.isPresent && state.features.has(feature))
      .map((state) => state.identity);
  }

  /** The present clients, in the order in which they first joined. */
  clients(): ParticipantState[] {
    return this.present.filter((state) => state.isClient && !state.isSip);
  }

  /** Returns the devices that may run tools in this participant's turns. */
  hosts(participant: string): TurnDevice[] {
    return devicesFor(participant, this.clients());
  }

  /** The participants in the room, in the order in which they first joined. */
  get present(): ParticipantState[] {
    return [...this.#participants.values()].filter((state) => state.isPresent);
  }
}
