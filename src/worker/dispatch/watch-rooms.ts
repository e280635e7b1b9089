import { setTimeout as sleep } from "node:timers/promises";
import { agentIdentity } from "../../protocol/conversation-id.ts";
import { type Sql } from "../../store/database/pool.ts";
import { findUnserved, forgetAgentRequests, mayAskForAgent } from "../../store/sessions/waiting-rooms.ts";
import { ensureAgent, type RoomClients } from "./ensure-agent.ts";
import { type Logger } from "../logger.ts";

interface WatchOptions {
  readonly clients: RoomClients;
  readonly sql: Sql;
  /** Whether this worker has accepted a job for the room that has not ended. */
  readonly isServed: (room: string) => boolean;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

const LOOK_EVERY_MS = 2_000;
const NEW_ROOM_MS = 2_000;
/** LiveKit may already have dispatched a job for a room as new as this worker; after this long it has not. */
const DISPATCHED_WITHIN_MS = 10_000;
/** After an outage of the database all leases have run out: who is alive renews its own within this time. */
const RENEWED_WITHIN_MS = 8_000;
/** An agent that was asked for is in its room by then. */
export const REST_MS = 10_000;
const FORGET_EVERY_MS = 600_000;

/**
 * Asks for agents for rooms that have participants and no worker: those whose worker has died, on whatever machine, and
 * those that were made while no worker was there, for LiveKit itself asks only when a room is made. Of many workers one
 * asks. Call it when this worker has registered; returns when `signal` is aborted.
 */
export async function watchRooms({ clients, sql, isServed, logger, signal }: WatchOptions): Promise<void> {
  const startedAt = Date.now();
  let failedAt = Number.NEGATIVE_INFINITY;
  let forgotAt = performance.now();
  const look = async () => {
    const rooms = await clients.rooms.listRooms();
    const waiting = rooms.filter(({ name, numParticipants, creationTime }) => {
      const createdAt = Number(creationTime) * 1_000;
      const isOlder = createdAt < startedAt - NEW_ROOM_MS || createdAt < Date.now() - DISPATCHED_WITHIN_MS;
      return isOlder && numParticipants > 0 && !isServed(name);
    });
    const unserved = waiting.length === 0 ? [] : await findUnserved(sql, { rooms: waiting.map(({ name }) => name) });
    for (const { room, formerOwner } of unserved) {
      if (formerOwner !== undefined && performance.now() - failedAt < RENEWED_WITHIN_MS) continue;
      const former = formerOwner === undefined ? undefined : agentIdentity(formerOwner);
      const isAllowed = () => mayAskForAgent(sql, { room, restMs: REST_MS });
      if (await ensureAgent(clients, room, { former, isAllowed }))
        logger.info({ room }, "a room had no agent: asked for one");
    }
    if (performance.now() - forgotAt > FORGET_EVERY_MS) {
      forgotAt = performance.now();
      await forgetAgentRequests(sql);
    }
  };
  while (!signal.aborted) {
    try {
      await look();
    } catch (error) {
      failedAt = performance.now();
      logger.warn({ error }, "rooms without an agent cannot be looked for");
    }
    // A random pause, so that workers that restart together do not all look at once.
    await sleep(LOOK_EVERY_MS * (0.7 + Math.random() * 0.6), undefined, { signal }).catch(() => {});
  }
}
