import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import type { SessionWriter } from "./session-writer.ts";

/** A stored session. */
export interface SessionRecord {
  readonly id: string;
  readonly conversationId: string;
  readonly room: string | null;
  /** The participant that opened it. */
  readonly participantIdentity: string | null;
  /** The worker that has or had its lease. */
  readonly leaseOwner: string | null;
  /** The number of the newest claim, from 1: how often the session has been claimed. */
  readonly epoch: number;
  /** The highest stanza number that a worker may have used, positive. */
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

/** Loads a session without claiming it. */
export async function loadSession(
  sql: Sql,
  { conversationId }: { conversationId: string },
): Promise<SessionRecord | undefined> {
  const rows = await runQuery(sql<SessionRow[]>`
    select * from sessions where conversation_id = ${conversationId}
  `);
  return rows[0] && toSessionRecord(rows[0]);
}

/** Whether a session of any room has this id, or this conversation id. */
export async function hasSession(sql: Sql, { id }: { readonly id: string }): Promise<boolean> {
  const rows = await runQuery(sql`select from sessions where id = ${id} or conversation_id = ${id}`);
  return rows.length > 0;
}

/** Stores the participant of the first turn as the session's opener. A session keeps the opener that it has. */
export async function setOpener({ sql, lease }: SessionWriter, { identity }: { identity: string }): Promise<void> {
  const { sessionId, epoch } = lease;
  await runQuery(sql`
    update sessions set participant_identity = ${identity}, updated_at = now()
    where id = ${sessionId} and epoch = ${epoch} and participant_identity is null
  `);
}
