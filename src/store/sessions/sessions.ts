import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { type SessionWriter, writeFenced } from "./session-writer.ts";

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
  /** Set when a later room of the same name has begun a new session under the id. */
  former_conversation_id: string | null;
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
    conversationId: row.former_conversation_id ?? row.conversation_id,
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

/** The agent that serves a session in a room, and the metadata of the dispatch by which it was chosen. */
export interface SessionAgent {
  readonly agent: string;
  /** Null if it is not stored: an earlier version has chosen the agent. */
  readonly dispatch: string | null;
}

/** The agent that served the session in this room; `undefined` when no turn has begun there. */
export async function loadSessionAgent(
  sql: Sql,
  { sessionId, roomSid }: { readonly sessionId: string; readonly roomSid: string },
): Promise<SessionAgent | undefined> {
  const [row] = await runQuery(sql<SessionAgent[]>`
    select agent, agent_dispatch as dispatch
    from sessions where id = ${sessionId} and agent_room = ${roomSid} and agent is not null
  `);
  return row && { ...row };
}

/**
 * Stores which agent serves the session in a room, once: what is stored for the room stays, as after a handoff.
 *
 * @throws {AppError} `lost_lease`, `unavailable`
 */
export async function keepFirstAgent(
  writer: SessionWriter,
  { agent, dispatch, roomSid }: SessionAgent & { readonly roomSid: string },
): Promise<void> {
  const { sql, lease } = writer;
  await writeFenced(
    writer,
    sql`
      update sessions
      set agent = ${agent}, agent_dispatch = ${dispatch}, agent_room = ${roomSid}, updated_at = now()
      from fence where sessions.id = ${lease.sessionId} and agent_room is distinct from ${roomSid} returning sessions.id
    `,
  );
}

/** Stores the agent that the session was handed to. @throws {AppError} `lost_lease`, `unavailable` */
export async function keepSessionAgent(
  writer: SessionWriter,
  { agent, roomSid }: { readonly agent: string; readonly roomSid: string },
): Promise<void> {
  const { sql, lease } = writer;
  await writeFenced(
    writer,
    sql`
      update sessions set
        agent = ${agent},
        agent_dispatch = case when agent_room = ${roomSid} then agent_dispatch end,
        agent_room = ${roomSid},
        updated_at = now()
      from fence where sessions.id = ${lease.sessionId} returning sessions.id
    `,
  );
}

/** The languages that `set_language` has chosen, by identity. */
export async function loadLanguages(
  sql: Sql,
  { sessionId }: { readonly sessionId: string },
): Promise<ReadonlyMap<string, string>> {
  const [row] = await runQuery(sql<{ languages: Record<string, string> }[]>`
    select languages from sessions where id = ${sessionId}
  `);
  return new Map(Object.entries(row?.languages ?? {}));
}

/** @param language undefined: removes the chosen language. @throws {AppError} `lost_lease`, `unavailable` */
export async function keepLanguage(
  writer: SessionWriter,
  { identity, language }: { readonly identity: string; readonly language: string | undefined },
): Promise<void> {
  const { sql, lease } = writer;
  const chosen = language === undefined ? {} : { [identity]: language };
  await writeFenced(
    writer,
    sql`
      update sessions set languages = (languages - ${identity}::text) || ${sql.json(chosen)}, updated_at = now()
      from fence where sessions.id = ${lease.sessionId} returning sessions.id
    `,
  );
}
