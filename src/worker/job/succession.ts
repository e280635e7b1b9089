import { setTimeout as sleep } from "node:timers/promises";
import { ParticipantKind, type Room, RoomEvent } from "@livekit/rtc-node";
import { AGENT_STATE_ATTRIBUTE, isGone, JOINING_ATTRIBUTES, ON_BEHALF_ATTRIBUTE } from "../../protocol/attributes.ts";
import type { Logger } from "../logger.ts";
import { setOwnAttributes } from "./connection.ts";

export interface SuccessionOptions {
  /** The room, which must be connected. */
  readonly room: Room;
  /** Sets attributes of another participant. Does nothing if the participant has left. */
  readonly setAttributes: (identity: string, attributes: Record<string, string>) => Promise<void>;
  /** Removes a participant. Does nothing if the participant has left. */
  readonly remove: (identity: string) => Promise<void>;
  /**
   * Publishes the agent's state, even if it has not changed. Called when clients consider this agent the room's agent.
   */
  readonly showState: () => void;
  readonly logger: Pick<Logger, "warn">;
}

/** How long a change of attributes takes to reach most clients. */
const SEEN_WITHIN_MS = 200;
/**
 * How long to wait before the former agent is removed. By then, clients on slow connections have received the change
 * too.
 */
const REMOVED_AFTER_MS = 2_000;
const AGAIN_AFTER_MS = 1_000;

/**
 * Makes an agent the successor of the agents that served its room before.
 *
 * LiveKit's clients end their session when the agent that they follow leaves, even if another agent is present. They
 * follow the first agent that does not publish on behalf of another agent. So a former agent, dead or alive, stays in
 * the room until its successor owns the session. The successor marks the former agent as publishing on the successor's
 * behalf, publishes its own state (clients wait for a state change), and then removes the former agent. Only the owner
 * of the lease does this, so the agent that serves the room is never removed.
 */
export class Succession {
  readonly #options: SuccessionOptions;
  readonly #replacing = new Set<string>();
  #untilOwned: (() => Promise<void>) | undefined;
  #isShowing = false;

  constructor(options: SuccessionOptions) {
    this.#options = options;
    const { room, showState } = options;
    room.on(RoomEvent.ParticipantConnected, () => this.#replaceGone());
    room.on(RoomEvent.ParticipantAttributesChanged, () => this.#replaceGone());
    if (this.#others.length === 0) showState();
    // This changes nothing, but makes LiveKit announce this agent to clients right away, instead of up to 3 s later.
    else setOwnAttributes(room, JOINING_ATTRIBUTES);
  }

  /**
   * Replaces all other Parley agents in the room, and from now on every agent that is marked as gone. Never rejects.
   *
   * @param untilOwned resolves once it is certain that this agent owns the session; rejects if another agent owns it
   */
  async begin(untilOwned: () => Promise<void>): Promise<void> {
    this.#untilOwned = untilOwned;
    const former = this.#others.map(({ identity }) => identity);
    // The previous owner of the session may have marked this agent as replaced.
    if (this.#options.room.localParticipant?.attributes[ON_BEHALF_ATTRIBUTE])
      setOwnAttributes(this.#options.room, { [ON_BEHALF_ATTRIBUTE]: "" });
    if (former.length > 0) await this.#replace(former);
  }

  /** Call this if the agent may not serve the room. The agent publishes its state, but replaces no other agent. */
  giveUp(): void {
    this.#options.showState();
  }

  close(): void {
    this.#untilOwned = undefined;
  }

  get #others() {
    const { room } = this.#options;
    const isOurs = (attributes: Readonly<Record<string, string>>) => AGENT_STATE_ATTRIBUTE in attributes;
    return [...room.remoteParticipants.values()].filter(
      ({ kind, attributes }) => kind === ParticipantKind.AGENT && isOurs(attributes),
    );
  }

  #replaceGone(): void {
    if (!this.#untilOwned) return;
    const gone = this.#others.filter(
      ({ identity, attributes }) => isGone(attributes) && !this.#replacing.has(identity),
    );
    if (gone.length > 0) void this.#replace(gone.map(({ identity }) => identity));
    void this.#showAgain();
  }

  /**
   * If another worker has marked this agent as gone, publishes this agent's state repeatedly until LiveKit has received
   * it, and once more. A change may be lost or delayed, and LiveKit (1.13.5) may deliver this one to a client before the
   * mark: it decides the order of two updates, but writes them without a lock.
   */
  async #showAgain(): Promise<void> {
    const { room, showState } = this.#options;
    const isMarked = () => isGone(room.localParticipant?.attributes ?? {});
    if (this.#isShowing || !isMarked()) return;
    this.#isShowing = true;
    try {
      let isLast = false;
      while (this.#untilOwned && !isLast) {
        isLast = !isMarked();
        await this.#untilOwned();
        showState();
        await sleep(AGAIN_AFTER_MS);
      }
    } catch {
      // Another agent owns the session.
    } finally {
      this.#isShowing = false;
    }
  }

  async #replace(identities: readonly string[]): Promise<void> {
    const { setAttributes, remove, showState, room, logger } = this.#options;
    const successor = room.localParticipant?.identity ?? "";
    for (const identity of identities) this.#replacing.add(identity);
    try {
      await this.#untilOwned?.();
      const mark = (identity: string) =>
        this.#persist(() => setAttributes(identity, { [ON_BEHALF_ATTRIBUTE]: successor }));
      const marked = Promise.all(identities.map(mark));
      await Promise.race([marked, sleep(AGAIN_AFTER_MS)]);
      await sleep(SEEN_WITHIN_MS);
      if (this.#untilOwned) showState();
      await marked;
      await sleep(REMOVED_AFTER_MS);
      await Promise.all(identities.map((identity) => this.#persist(() => remove(identity))));
    } catch (error) {
      if (this.#untilOwned) logger.warn({ error }, "removing former agent from room failed");
    } finally {
      for (const identity of identities) this.#replacing.delete(identity);
    }
  }

  /** Retries while this agent owns the session, for up to 20 s, which is how long LiveKit lists a dead agent. */
  async #persist(work: () => Promise<void>): Promise<void> {
    const giveUpAt = performance.now() + 20 * AGAIN_AFTER_MS;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!this.#untilOwned || performance.now() > giveUpAt) throw error;
        await sleep(AGAIN_AFTER_MS);
      }
    }
  }
}
