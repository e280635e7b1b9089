import { type Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { type SessionWriter } from "./session-writer.ts";

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

/** Takes no lease: for whoever may only look, and to see whose conversation it is before claiming it. */
export async function loadSession(
  sql: Sql,
  { conversationId }: { conversationId: string },
): Promise<SessionRecord | undefined> {
  const rows = await runQuery(sql<SessionRow[]>`
    select * from sessions where conversation_id = ${conversationId}
  `);
  return rows[0] && toSessionRecord(rows[0]);
}

/** Whether a session, of whatever room, goes by this id: its own or its conversation's. */
export async function hasSession(sql: Sql, { id }: { readonly id: string }): Promise<boolean> {
  const rows = await runQuery(sql`select from sessions where id = ${id} or conversation_id = ${id}`);
  return rows.length > 0;
}

/** Puts on record who opened the session: the participant of its first turn. A session keeps the one it has. */
export async function setOpener({ sql, lease }: SessionWriter, { identity }: { identity: string }): Promise<void> {
  const { sessionId, epoch } = lease;
  await runQuery(sql`
    update sessions set participant_identity = ${identity}, updated_at = now()
    where id = ${sessionId} and epoch = ${epoch} and participant_identity is null
  `);
}
