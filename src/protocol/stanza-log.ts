import { LIMITS } from "./limits.ts";

export interface LoggedEnvelope {
  readonly stanzaId: number;
  readonly bytes: Uint8Array;
  /** The identities that the envelope was sent to. */
  readonly destinations: readonly string[] | "all";
}

export interface Replay {
  /** In the order in which they were sent, with their original bytes. */
  readonly entries: readonly LoggedEnvelope[];
  /** Whether a stanza for this identity after `lastSequenceSeen` is no longer in the log. */
  readonly hasGap: boolean;
  /** The newest stanza for this identity that is no longer in the log, as a positive number. 0 if there is none. */
  readonly goneUntil: number;
}

const EVERYONE: unique symbol = Symbol("everyone");

/** The last envelopes that the worker sent in a session, at most 500 and 1 MiB. Drops the oldest ones first. */
export class StanzaLog {
  #entries: LoggedEnvelope[] = [];
  #sizeBytes = 0;
  /** The newest dropped stanza, by the identity that it was sent to. */
  readonly #goneUntil = new Map<string | typeof EVERYONE, number>();

  /**
   * `sentBefore` is the last stanza of an earlier worker in the same session. It counts as sent to everyone, and as
   * dropped.
   */
  constructor({ sentBefore = 0 }: { readonly sentBefore?: number } = {}) {
    this.#goneUntil.set(EVERYONE, Math.abs(sentBefore));
  }

  /** Adds a sent envelope. Call this in the order of sending. Acks (stanzaId 0) are not kept. */
  add(envelope: LoggedEnvelope): void {
    if (envelope.stanzaId === 0) return;
    this.#entries.push(envelope);
    this.#sizeBytes += envelope.bytes.length;
    while (this.#entries.length > LIMITS.loggedEnvelopes || this.#sizeBytes > LIMITS.loggedBytes) this.#forgetOldest();
  }

  /**
   * Returns the logged envelopes that were sent to an identity after the stanza `lastSequenceSeen`. The signs of stanza
   * numbers are ignored, because clients use them differently.
   */
  after(lastSequenceSeen: number, identity: string): Replay {
    const seen = Math.abs(lastSequenceSeen);
    const entries = this.#entries.filter(
      ({ stanzaId, destinations }) =>
        Math.abs(stanzaId) > seen && (destinations === "all" || destinations.includes(identity)),
    );
    const goneUntil = Math.max(this.#goneUntil.get(EVERYONE) ?? 0, this.#goneUntil.get(identity) ?? 0);
    return { entries, hasGap: goneUntil > seen, goneUntil };
  }

  #forgetOldest(): void {
    const oldest = this.#entries.shift();
    if (!oldest) return;
    this.#sizeBytes -= oldest.bytes.length;
    const owners: readonly (string | typeof EVERYONE)[] =
      oldest.destinations === "all" ? [EVERYONE] : oldest.destinations;
    for (const owner of owners) this.#goneUntil.set(owner, Math.abs(oldest.stanzaId));
  }
}
