import { loadSessionAgent } from "../store/sessions/sessions.ts";
import type { Begun } from "../store/sessions/session-rooms.ts";
import { type AssembledSession, assembleSession, type SessionWorld } from "./assemble-session.ts";
import { openDatabaseStore } from "./database-store.ts";
import { SessionRoom } from "./ending/session-room.ts";
import type { PermissionEvents } from "./permission/permission-store.ts";
import { leasedLink } from "./record/leased-link.ts";
import { type ClaimOptions, claimRoomSession, type RoomSession } from "./claim-room-session.ts";
import type { RoomCloseReason } from "./room/room-input.ts";

/** Without `roomSid`, neither handoffs nor the session's start and end are stored. */
export interface OpenSessionOptions
  extends Omit<SessionWorld, "sessionId" | "store" | "link">, Omit<ClaimOptions, "link" | "policy"> {
  /** Reports answers to permission requests. */
  readonly permissionEvents: PermissionEvents;
  readonly link: SessionWorld["link"] & ClaimOptions["link"];
  /** Called when another worker has taken over the session: this worker must leave the room. */
  readonly onLost: () => void;
}

export interface OpenedSession extends Pick<AssembledSession, "session" | "stateOf"> {
  readonly sessionId: string;
  /** Stores the session's start in this room. Call this once a participant is present. */
  readonly begin: (agent: string) => Promise<Begun>;
  /** The number of turns so far, including replaced ones. */
  readonly pastTurns: number;
  /**
   * Resolves once it is certain that no other worker has taken over the session.
   *
   * @throws {AppError} `lost_lease`
   */
  readonly untilOwned: () => Promise<void>;
  /** Sets whether the room is unreachable. While it is, another worker may soon take over the session. */
  readonly setCutOff: (isCutOff: boolean) => void;
  /** Stops at once and leaves the session as it is. The next worker resumes the running turn. */
  readonly abandon: () => Promise<void>;
  /**
   * Closes the session on this worker.
   *
   * @param untilCloseReason called last, after the session has stopped on this worker. Resolves to why the room was
   *   closed for everyone, in which case the session ends, or to `undefined` if the room was not closed
   * @returns `true` if this call stored the session's end; `false` if the session continues on another worker or never
   *   started, or if its end was already stored or could not be stored
   */
  readonly close: (graceMs: number, untilCloseReason?: () => Promise<RoomCloseReason | undefined>) => Promise<boolean>;
}

/**
 * Claims the room's session (waiting for a dead worker's lease to expire), restores its history, ends what an earlier
 * worker left unfinished, and starts it. The lease is renewed until `close`.
 *
 * @throws {AppError} `unavailable` if the database is unreachable, `lost_lease` if another worker keeps the session,
 *   `not_allowed` if the conversation belongs to another room
 */
export async function openSession(options: OpenSessionOptions): Promise<OpenedSession> {
  const claimed = await claimRoomSession(options);
  try {
    return await start(options, claimed);
  } catch (error) {
    await claimed.lease.release().catch(() => {});
    throw error;
  }
}

async function start(options: OpenSessionOptions, { lease, sentBefore, ended }: RoomSession): Promise<OpenedSession> {
  const { logger, agents, roomSid } = options;
  const { writer } = lease;
  const { sessionId } = writer.lease;
  const served = agents && roomSid && (await loadSessionAgent(options.sql, { sessionId, roomSid }));
  if (served) agents?.restore(served);
  const { policy, permissionEvents } = options;
  const store = await openDatabaseStore({ lease, sentBefore, roomSid, policy, permissionEvents, logger });
  const link = leasedLink(options.link, lease);
  const { session, callEnd, stateOf, close: closeSession } = assembleSession({ ...options, sessionId, store, link });
  const { lastPosition } = store.restored;
  const sessionRoom = roomSid
    ? new SessionRoom({ writer, roomSid, lastPosition, hasEndWebhook: options.hasEndWebhook ?? false })
    : undefined;
  const end = async (closeReason: RoomCloseReason) => {
    const reason = closeReason === "room_deleted" && callEnd?.isEnded ? "ended_by_agent" : closeReason;
    try {
      const isEnded = (await sessionRoom?.end(reason)) ?? false;
      if (isEnded) logger.info({ reason }, "session ended");
      return isEnded;
    } catch (error) {
      // A worker will later find that the room is gone, and store the end then.
      logger.warn({ error, reason }, "storing session end failed");
      return false;
    }
  };
  let closing: Promise<boolean> | undefined;
  const close: OpenedSession["close"] = async (graceMs, untilCloseReason) => {
    await closeSession(graceMs);
    const closeReason = await untilCloseReason?.();
    const isEnded = closeReason !== undefined && (await end(closeReason));
    await sessionRoom?.close();
    await lease.release().catch(() => {});
    return isEnded;
  };
  const closeOnce: OpenedSession["close"] = (graceMs, untilCloseReason) =>
    (closing ??= close(graceMs, untilCloseReason));
  const onLost = () => {
    void closeOnce(0);
    options.onLost();
  };
  if (lease.lost.aborted) onLost();
  else lease.lost.addEventListener("abort", onLost, { once: true });
  const setCutOff = (isCutOff: boolean) => lease.setCutOff(isCutOff);
  const abandon = async () => {
    await lease.abandon();
    await closing;
  };
  const begin = async (agent: string) => {
    const begun = await sessionRoom?.begin(agent);
    return { isNew: begun?.isNew ?? false, ended: [...ended, ...(begun?.ended ?? [])] };
  };
  const untilOwned = () => lease.untilOwned();
  return {
    session,
    stateOf,
    sessionId,
    pastTurns: lastPosition,
    begin,
    untilOwned,
    setCutOff,
    abandon,
    close: closeOnce,
  };
}
