import { setTimeout as sleep } from "node:timers/promises";
import { agentIdentity } from "../../protocol/conversation-id.ts";
import type { Sql } from "../../store/database/pool.ts";
import {
  findUnserved,
  forgetAgentRequests,
  mayAskForAgent,
  mayLookAtRooms,
  areRoomsWaiting,
  noteWaitingRooms,
  type UnservedRoom,
} from "../../store/sessions/waiting-rooms.ts";
import { ensureAgent, isMeantForUs, type RoomClients, tellOfWaiting } from "./ensure-agent.ts";
import type { Logger } from "../logger.ts";

interface WatchOptions {
  readonly clients: RoomClients;
  readonly sql: Sql;
  /** Whether this worker has accepted a job for the room that has not ended. */
  readonly isServed: (room: string) => boolean;
  /** How many more sessions this worker can take. */
  readonly freePlaces: () => number;
  /** Told of all rooms, by their ids. Must not reject. */
  readonly onRooms: (roomSids: readonly string[]) => Promise<void>;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

const LOOK_EVERY_MS = 2_000;
/** Whoever has failed leaves the looking to others for so long: they may reach what it cannot. */
const AFTER_FAILURE_MS = 6_000;
/** Of many workers one looks at a time. */
const LOOK_RESTS_MS = 1_200;
/** When those that have a place have not looked for so long, there are none: all workers are full. */
const FULL_AFTER_MS = 4_000;
const NEW_ROOM_MS = 2_000;
/** That rooms wait is known to all workers for so long after it was last seen. */
const WAITING_FOR_MS = 10_000;
/** After an outage of the database all leases have run out: who is alive renews its own within this time. */
const RENEWED_WITHIN_MS = 8_000;
/** A worker has the room's job by then, or LiveKit has offered it to one that does not answer. */
export const REST_MS = 4_000;
const FORGET_EVERY_MS = 600_000;

/**
 * Asks for agents for rooms that have participants and no worker: those whose worker has died, on whatever machine, and
 * those that were made while no worker was there or all were full, for LiveKit itself asks only when a room is made. Of
 * many workers one asks, for as many rooms as it has places, the oldest first; when all are full, the participants are
 * told. Call it when this worker has registered; returns when `signal` is aborted.
 */
export async function watchRooms(options: WatchOptions): Promise<void> {
  const { clients, sql, isServed, freePlaces, onRooms, logger, signal } = options;
  const startedAt = Date.now();
  let failedAt = Number.NEGATIVE_INFINITY;
  let forgotAt = performance.now();
  /** Rooms whose participants know that all workers are full. */
  let told = new Set<string>();
  /** All at once: one that LiveKit does not answer for holds up no other. */
  const atOnce = <Result>(found: readonly UnservedRoom[], work: (one: UnservedRoom) => Promise<Result>) =>
    Promise.all(
      found.map((one) =>
        work(one).catch((error: unknown) => {
          logger.warn({ error, room: one.room }, "a room without an agent cannot be looked at");
        }),
      ),
    );
  const look = async () => {
    const overdueMs = freePlaces() > 0 ? 0 : FULL_AFTER_MS;
    if (!(await mayLookAtRooms(sql, { restMs: LOOK_RESTS_MS, overdueMs }))) return;
    const rooms = await clients.rooms.listRooms();
    await onRooms(rooms.map(({ sid }) => sid));
    const waiting = rooms.filter(({ name, numParticipants, creationTime }) => {
      const createdAt = Number(creationTime) * 1_000;
      const isOlder = createdAt < startedAt - NEW_ROOM_MS || createdAt < Date.now() - REST_MS;
      return isOlder && numParticipants > 0 && !isServed(name);
    });
    const oldestFirst = waiting.toSorted((one, other) => Number(one.creationTime - other.creationTime));
    const names = oldestFirst.map(({ name }) => name);
    const found = names.length === 0 ? [] : await findUnserved(sql, { rooms: names });
    const isOurs = await atOnce(found, ({ room }) => isMeantForUs(clients, room));
    const unserved = found.filter((_, index) => isOurs[index] === true);
    if (unserved.length > 0) await noteWaitingRooms(sql, { forMs: WAITING_FOR_MS });
    const places = Math.max(0, freePlaces());
    if (places === 0) {
      const news = unserved.filter(({ room }) => !told.has(room));
      if (news.length > 0) logger.error({ rooms: unserved.length }, "all workers are full: rooms wait for an agent");
      await atOnce(news, ({ room }) => tellOfWaiting(clients, room));
      told = new Set(unserved.map(({ room }) => room));
      return;
    }
    await atOnce(unserved.slice(0, places), async ({ room, formerOwner }) => {
      if (formerOwner !== undefined && performance.now() - failedAt < RENEWED_WITHIN_MS) return;
      const former = formerOwner === undefined ? undefined : agentIdentity(formerOwner);
      const isAllowed = () => mayAskForAgent(sql, { room, restMs: REST_MS });
      if (await ensureAgent(clients, room, { former, isAllowed }))
        logger.info({ room }, "a room had no agent: asked for one");
    });
    if (performance.now() - forgotAt > FORGET_EVERY_MS) {
      forgotAt = performance.now();
      await forgetAgentRequests(sql);
    }
  };
  while (!signal.aborted) {
    let pauseMs = LOOK_EVERY_MS;
    try {
      await look();
    } catch (error) {
      pauseMs = AFTER_FAILURE_MS;
      failedAt = performance.now();
      logger.warn({ error }, "rooms without an agent cannot be looked for");
    }
    // A random pause, so that workers that restart together do not all look at once.
    await sleep(pauseMs * (0.7 + Math.random() * 0.6), undefined, { signal }).catch(() => {});
  }
}

/**
 * Whether a room is so new that it has not waited, while others do: they get the places that are free again first, and
 * it is looked for later as they are. Never rejects.
 */
export async function mustWait(sql: Sql, { creationTime }: { readonly creationTime: bigint }): Promise<boolean> {
  if (Number(creationTime) * 1_000 < Date.now() - REST_MS) return false;
  return areRoomsWaiting(sql).catch(() => false);
}
