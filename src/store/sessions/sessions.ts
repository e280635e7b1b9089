import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { type SessionWriter, writeFenced } from "./session-writer.ts";

export interface SessionRecord {
  readonly id: string;
  readonly conversationId: string;
  readonly room: string | null;
  /** The participant that opened the session. */
  readonly participantIdentity: string | null;
  /** The worker that holds the lease, or held it last. */
  readonly leaseOwner: string | null;
  /** The number of the newest claim, which is how often the session has been claimed. Starts at 1. */
  readonly epoch: number;
  /** The highest stanza number that a worker may have used, as a positive number. */
  readonly workerStanzaReserved: number;
  readonly createdAt: number;
}

export interface SessionRow {
  id: string;
  conversation_id: string;
  /**
   * The session's original conversation id. Set once a later room of the same name has started a new session under that
   * id.
   */
  former_conversation_id: string | null;
  room: string | null;
  participant_identity: string | null;
  lease_owner: string | null;
  /** A string, because the column is a bigint. */
  epoch: string;
  /** A string, because the column is a bigint. */
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

/** Whether any session, in any room, has this id or conversation id. */
export async function hasSession(sql: Sql, { id }: { readonly id: string }): Promise<boolean> {
  const rows = await runQuery(sql`select from sessions where id = ${id} or conversation_id = ${id}`);
  return rows.length > 0;
}

/**
 * Stores the participant of the first turn as the session's opener. Never replaces an opener that is already stored.
 */
export async function setOpener({ sql, lease }: SessionWriter, { identity }: { identity: string }): Promise<void> {
  const { sessionId, epoch } = lease;
  await runQuery(sql`
    update sessions set participant_identity = ${identity}, updated_at = now()
    where id = ${sessionId} and epoch = ${epoch} and participant_identity is null
  `);
}

/** The agent that serves a session in a room, and the metadata of the dispatch that chose it. */
export interface SessionAgent {
  readonly agent: string;
  /** `null` if it is not stored, for example because an earlier version chose the agent. */
  readonly dispatch: string | null;
}

/** Returns the agent that last served the session in this room, or `undefined` if none is stored. */
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
 * Stores which agent serves the session in a room. Does nothing if an agent is already stored for the room, for example
 * after a handoff.
 *
 * @throws {AppError} `lost_lease`, `unavailable`
 */
export async function storeFirstAgent(
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

/** Stores the agent that the session was handed off to. @throws {AppError} `lost_lease`, `unavailable` */
export async function storeSessionAgent(
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

/** Loads the languages chosen with `set_language`, by identity. */
export async function loadLanguages(
  sql: Sql,
  { sessionId }: { readonly sessionId: string },
): Promise<ReadonlyMap<string, string>> {
  const [row] = await runQuery(sql<{ languages: Record<string, string> }[]>`
    select languages from sessions where id = ${sessionId}
  `);
  return new Map(Object.entries(row?.languages ?? {}));
}

/**
 * Stores a participant's language.
 *
 * @param language `undefined` removes the stored language
 * @throws {AppError} `lost_lease`, `unavailable`
 */
export async function storeLanguage(
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
