import { setTimeout as sleep } from "node:timers/promises";
import { ensureAgent, type RoomClients } from "./ensure-agent.ts";
import { type Logger } from "../logger.ts";

interface AdoptOptions {
  readonly clients: RoomClients;
  /** This worker has an agent for the room, in it or on its way back. */
  readonly isServed: (room: string) => boolean;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** LiveKit removes the participant of a killed agent within 20 s; until then its room looks served. */
const ADOPT_FOR_MS = 30_000;
const LOOK_EVERY_MS = 3_000;
const NEW_ROOM_MS = 2_000;
/** Whoever makes a room just before us may think that we are there: after this long its agent is not on its way. */
const DISPATCHED_WITHIN_MS = 10_000;

/**
 * After a worker has (re)started, or LiveKit has: rooms that were there before it and have participants but no agent get
 * one. LiveKit asks for agents only when a room is made. Returns when everything that a crash can have left has been
 * seen.
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
    // Workers that restart together do not look at the same moment.
    await sleep(LOOK_EVERY_MS * (0.7 + Math.random() * 0.6), undefined, { signal }).catch(() => {});
  }
}
