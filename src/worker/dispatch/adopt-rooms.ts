import { setTimeout as sleep } from "node:timers/promises";
import { ensureAgent, type RoomClients } from "./ensure-agent.ts";
import { type Logger } from "../logger.ts";

interface AdoptOptions {
  readonly clients: RoomClients;
  /** Whether this worker has accepted a job for the room that has not ended. */
  readonly isServed: (room: string) => boolean;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** LiveKit removes the participant of a killed agent within 20 s; until then its room looks served. */
const ADOPT_FOR_MS = 30_000;
const LOOK_EVERY_MS = 3_000;
const NEW_ROOM_MS = 2_000;
/** LiveKit may already have dispatched a job for a room as new as this worker; after this long it has not. */
const DISPATCHED_WITHIN_MS = 10_000;

/**
 * Asks for agents for rooms that have participants but no agent. To be called when this worker has registered: LiveKit
 * itself asks only when a room is made. Returns after 30 s, when no dead agent looks alive any more.
 */
export async function adoptRooms({ clients, isServed, logger, signal }: AdoptOptions): Promise<void> {
  const startedAt = Date.now();
  while (!signal.aborted && Date.now() - startedAt < ADOPT_FOR_MS) {
    try {
      for (const room of await clients.rooms.listRooms()) {
        const createdAt = Number(room.creationTime) * 1_000;
        const isOlder = createdAt < startedAt - NEW_ROOM_MS || createdAt < Date.now() - DISPATCHED_WITHIN_MS;
        if (isOlder && !isServed(room.name) && room.numParticipants > 0 && (await ensureAgent(clients, room.name))) {
          logger.info({ room: room.name }, "a room had no agent: asked for one");
        }
      }
    } catch (error) {
      logger.warn({ error }, "rooms without an agent cannot be looked for");
    }
    // A random pause, so that workers that restart together do not ask for the same room at once.
    await sleep(LOOK_EVERY_MS * (0.7 + Math.random() * 0.6), undefined, { signal }).catch(() => {});
  }
}
