/** A stored session, as its worker claims it. */
export interface SessionRecord {
  readonly id: string;
  readonly conversationId: string;
  readonly room: string | null;
  /** Who opened it. */
  readonly participantIdentity: string | null;
  /** Who works on it, if the lease is live. */
  readonly leaseOwner: string | null;
  /** How often it has been claimed: the number of the newest claim. */
  readonly epoch: number;
  /** Highest worker stanza number that may have been used, positive. */
  readonly workerStanzaReserved: number;
  readonly createdAt: number;
}

export interface SessionRow {
  id: string;
  conversation_id: string;
  room: string | null;
  participant_identity: string | null;
  lease_owner: string | null;
  /** A bigint comes as text. */
  epoch: string;
  /** A bigint comes as text. */
  worker_stanza_reserved: string;
  created_at: number;
}

export function toSessionRecord(row: SessionRow): SessionRecord {
  return {
    id: row.id,
    conversationId: row.conversation_id,
    room: row.room,
    participantIdentity: row.participant_identity,
    leaseOwner: row.lease_owner,
    epoch: Number(row.epoch),
    workerStanzaReserved: Number(row.worker_stanza_reserved),
    createdAt: row.created_at,
  };
}
