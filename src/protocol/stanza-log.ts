import { LIMITS } from "./limits.ts";

export interface LoggedEnvelope {
  readonly stanzaId: number;
  readonly bytes: Uint8Array;
  /** The identities that it was sent to. */
  readonly destinations: readonly string[] | "all";
}

export interface Replay {
  /** In the order they were sent, with their original bytes. */
  readonly entries: readonly LoggedEnvelope[];
  /** Whether a stanza that the identity was sent after `lastSequenceSeen` is no longer held. */
  readonly hasGap: boolean;
  /** The newest stanza for the identity that is no longer held, positive. */
  readonly goneUntil: number;
}

const EVERYONE: unique symbol = Symbol("everyone");

/** The last envelopes that the worker sent in a session: at most 500, and 1 MiB. The oldest are dropped first. */
export class StanzaLog {
  #entries: LoggedEnvelope[] = [];
  #sizeBytes = 0;
  /** The newest stanza that is gone, by the identity that it was sent to. */
  readonly #goneUntil = new Map<string | typeof EVERYONE, number>();

  /** `sentBefore` is the last stanza of an earlier worker in the same session: it counts as sent to all, and gone. */
  constructor({ sentBefore = 0 }: { readonly sentBefore?: number } = {}) {
    this.#goneUntil.set(EVERYONE, Math.abs(sentBefore));
  }

  /** Stanzas are added in the order they are sent. An Ack has stanzaId 0 and is not kept. */
  add(envelope: LoggedEnvelope): void {
    if (envelope.stanzaId === 0) return;
    this.#entries.push(envelope);
    this.#sizeBytes += envelope.bytes.length;
    while (this.#entries.length > LIMITS.loggedEnvelopes || this.#sizeBytes > LIMITS.loggedBytes) this.#forgetOldest();
  }

  /** The envelopes for an identity after a stanza. Signs are ignored: clients disagree about them. */
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
