import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../errors/app-error.ts";
import { createId } from "../lib/id.ts";
import { agentIdentity } from "../protocol/conversation-id.ts";
import type { Sql } from "../store/database/pool.ts";
import { startNewSession } from "../store/sessions/start-new-session.ts";
import { claimSession, findLease, moveToRoom, releaseLease } from "../store/sessions/leases.ts";
import { hasRecentTurn } from "../store/turns/find-turns.ts";
import type { SessionRoom } from "../store/sessions/session-rooms.ts";
import type { SessionRecord } from "../store/sessions/sessions.ts";
import type { SessionWorld } from "./assemble-session.ts";
import { SessionLease } from "./record/session-lease.ts";
import type { RoomLink } from "./room/room-link.ts";
import { endOpen } from "./restore/restore.ts";

const LEASE_MS = 12_000;
const CLAIM_RETRY_MS = 250;
/**
 * How many lease renewals prove that the owner is alive and keeps the session. One is not enough: the owner may renew
 * between requesting a successor and announcing the handover.
 */
const LIVING_RENEWALS = 2;

export interface ClaimOptions extends Pick<SessionWorld, "conversationId" | "room" | "roomSid" | "logger"> {
  readonly sql: Sql;
  /**
   * Whether this room continues the session of an earlier room of the same name: always, never, if the last turn there
   * ended at most `withinMs` ago, or as the function decides, which never rejects. If not, the earlier session is ended,
   * and this room starts a new one. Without `roomSid`, it always continues.
   *
   * @defaultValue true
   */
  readonly continues?: boolean | { readonly withinMs: number } | (() => Promise<boolean>) | undefined;
  /** Whether a webhook reports the session's end to the operator's server. @defaultValue false */
  readonly hasEndWebhook?: boolean | undefined;
  /** Identifies this worker in the lease. */
  readonly owner: string;
  /** How long a worker that stopped responding keeps the session. @defaultValue 12000 */
  readonly leaseMs?: number;
  readonly link: Pick<RoomLink, "otherAgents" | "keepsSession">;
  /**
   * Revokes the room permissions of a worker whose lease has expired: if it was frozen, it may still have packets to
   * send. Never rejects.
   */
  readonly silence: (owner: string) => Promise<void>;
  readonly policy: Pick<SessionWorld["policy"], "toolResultMaxBytes">;
}

export interface RoomSession {
  readonly lease: SessionLease;
  /** The highest stanza number that an earlier worker may have used, as a positive number; 0 if there was none. */
  readonly sentBefore: number;
  /** Earlier rooms of the same name whose end no worker noticed. They have now been stored as ended. */
  readonly ended: readonly SessionRoom[];
}

/**
 * Claims the session of a room, or begins a new one. If another worker owns the session, waits until that worker's
 * lease expires or that worker hands the session over.
 *
 * @throws {AppError} `unavailable` if the database is unreachable, `lost_lease` if another worker keeps the session,
 *   `not_allowed` if the conversation belongs to another room
 */
export async function claimRoomSession(options: ClaimOptions): Promise<RoomSession> {
  const { sql, conversationId, room, roomSid, owner, leaseMs = LEASE_MS, continues = true } = options;
  const giveUpAt = performance.now() + leaseMs + leaseMs / 3;
  const isOwnerAlive = watchOwner(options);
  while (performance.now() < giveUpAt) {
    const claimedAt = performance.now();
    const request = { sessionId: createId(), conversationId, room, roomSid, owner, leaseMs };
    const always = continues === true;
    const record = await claimSession(sql, { ...request, continues: always, participantIdentity: null });
    if (record) {
      const isContinued =
        roomSid === undefined || !record.isOfEarlierRoom || (await continuesEarlier(options, record, roomSid));
      const session = isContinued
        ? toRoomSession(options, record, claimedAt)
        : await replaceEarlierSession(options, record, roomSid);
      if (session && record.takenFrom !== null) await options.silence(record.takenFrom);
      if (session) return session;
    }
    if (await isOwnerAlive()) break;
    await sleep(CLAIM_RETRY_MS);
  }
  throw new AppError("lost_lease", "Another agent is already serving this session");
}

/** Returns a function that checks whether the owner renews its lease and is not handing the session over. */
function watchOwner({ sql, conversationId, link }: ClaimOptions): () => Promise<boolean> {
  let seen: Awaited<ReturnType<typeof findLease>>;
  let renewals = 0;
  return async () => {
    const lease = await findLease(sql, { conversationId });
    if (lease?.owner !== seen?.owner) renewals = 0;
    else if (lease && seen && lease.expiresAt > seen.expiresAt) renewals++;
    seen = lease;
    return lease !== undefined && renewals >= LIVING_RENEWALS && link.keepsSession(agentIdentity(lease.owner));
  };
}

/** Decides whether the room continues an earlier room's session. If so, the session belongs to this room from then on. */
async function continuesEarlier(
  { sql, continues }: ClaimOptions,
  { id: sessionId, epoch }: SessionRecord,
  roomSid: string,
): Promise<boolean> {
  const writer = { sql, lease: { sessionId, epoch } };
  const isContinued =
    typeof continues === "object"
      ? await hasRecentTurn(sql, { sessionId, ...continues })
      : typeof continues === "function" && (await continues());
  if (isContinued) await moveToRoom(writer, { roomSid });
  return isContinued;
}

function toRoomSession(
  { sql, link, logger, leaseMs = LEASE_MS }: ClaimOptions,
  record: SessionRecord,
  claimedAt: number,
): RoomSession {
  const isAlone = () => link.otherAgents.length === 0;
  const lease = new SessionLease(sql, record, { leaseMs, claimedAt, isAlone, logger });
  return { lease, sentBefore: record.workerStanzaReserved, ended: [] };
}

/** Ends an earlier room's session and begins a new one. Returns `undefined` if another worker was faster. */
async function replaceEarlierSession(
  options: ClaimOptions,
  earlier: SessionRecord,
  roomSid: string,
): Promise<RoomSession | undefined> {
  const { sql, owner, leaseMs = LEASE_MS, hasEndWebhook = false, policy, logger } = options;
  const writer = { sql, lease: { sessionId: earlier.id, epoch: earlier.epoch } };
  try {
    await endOpen(writer, { resultMaxBytes: policy.toolResultMaxBytes });
  } catch (error) {
    await releaseLease(writer).catch(() => {});
    throw error;
  }
  const claimedAt = performance.now();
  const started = await startNewSession(writer, { sessionId: createId(), roomSid, owner, leaseMs, hasEndWebhook });
  if (!started) return undefined;
  logger.info({ earlierSession: earlier.id }, "new session for a later room of the same name");
  return { ...toRoomSession(options, started.session, claimedAt), ended: started.ended };
}
