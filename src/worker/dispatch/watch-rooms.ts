import { setTimeout as sleep } from "node:timers/promises";
import { agentIdentity } from "../../protocol/conversation-id.ts";
import type { Sql } from "../../store/database/pool.ts";
import { findAbandonedRooms, type SessionRoom } from "../../store/sessions/session-rooms.ts";
import {
  findUnserved,
  forgetAgentRequests,
  mayAskForAgent,
  mayCheckRooms,
  areRoomsWaiting,
  storeWaitingRooms,
  type UnservedRoom,
} from "../../store/sessions/waiting-rooms.ts";
import { ensureAgent, isMeantForUs, type RoomClients, announceWaiting } from "./ensure-agent.ts";
import type { Logger } from "../logger.ts";
import type { ServeUnclaimedDispatch } from "./serve-unclaimed-dispatch.ts";
import { checkUnlistedRooms } from "./unlisted-rooms.ts";

interface WatchOptions {
  readonly clients: RoomClients;
  readonly sql: Sql;
  /** Whether this worker has accepted a job for the room and the job has not ended. */
  readonly isServed: (room: string) => boolean;
  /** How many more sessions this worker can serve. */
  readonly freeSlots: () => number;
  /** Called when LiveKit has closed a session's room while no worker was in it. Must not reject. */
  readonly onClosed: (room: SessionRoom) => Promise<void>;
  readonly serveUnclaimedDispatch: ServeUnclaimedDispatch;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

const CHECK_EVERY_MS = 2_000;
/** How long a worker waits after its check of the rooms has failed. Meanwhile, another worker's check may succeed. */
const AFTER_FAILURE_MS = 6_000;
/** The minimum time between two checks of the rooms, whichever workers make them. */
const CHECK_RESTS_MS = 1_200;
/**
 * How long the rooms must have been unchecked before a full worker checks them. Workers with free slots check more
 * often, so by then all workers must be full.
 */
const FULL_AFTER_MS = 4_000;
const NEW_ROOM_MS = 2_000;
/** How long all workers assume that rooms are waiting after any of them has found a waiting room. */
const WAITING_FOR_MS = 10_000;
/** How long live workers need to renew their leases after a database outage, during which all leases expire. */
const RENEWED_WITHIN_MS = 8_000;
/**
 * How long a room may be without an agent after the room was created or an agent was requested. By then, a worker has
 * received the room's job, unless LiveKit has offered the job to an unresponsive worker.
 */
export const REST_MS = 4_000;
const FORGET_EVERY_MS = 600_000;

/**
 * Requests agents for rooms that have participants but no worker. Either the room's worker has died (on this or another
 * machine), or the room was created while no worker was running or all workers were full. LiveKit requests an agent
 * only when a room is created. One worker at a time does this, up to its number of free slots, and starts with the
 * oldest rooms. If all workers are full, the participants are notified.
 *
 * A room whose session lost its worker gets one agent even if LiveKit lists neither the room nor its participants,
 * which happens when LiveKit loses its Redis. If LiveKit has closed the room, the session is ended.
 *
 * Call this once the worker has registered. Resolves after `signal` is aborted.
 */
export async function watchRooms(options: WatchOptions): Promise<void> {
  await new RoomWatcher(options).run();
}

type ListedRoom = Awaited<ReturnType<RoomClients["rooms"]["listRooms"]>>[number];

class RoomWatcher {
  readonly #options: WatchOptions;
  readonly #unlisted: ReturnType<typeof checkUnlistedRooms>;
  readonly #startedAt = Date.now();
  #failedAt = Number.NEGATIVE_INFINITY;
  #forgotAt = performance.now();
  /** Rooms whose participants were notified that all workers are full. */
  #announced = new Set<string>();
  readonly #taking = new Set<Promise<void>>();

  constructor(options: WatchOptions) {
    this.#options = options;
    const { clients, isServed, freeSlots, onClosed, logger, signal } = options;
    this.#unlisted = checkUnlistedRooms({
      clients,
      serve: async (one) => {
        const mayServe = one.needsAgent && !isServed(one.room) && freeSlots() > 0;
        if (mayServe && (await isMeantForUs(clients, one.room))) await this.#serve(one, true);
      },
      onClosed,
      logger,
      signal,
    });
  }

  async run(): Promise<void> {
    const { logger, signal } = this.#options;
    while (!signal.aborted) {
      let pauseMs = CHECK_EVERY_MS;
      try {
        await this.#check();
      } catch (error) {
        pauseMs = AFTER_FAILURE_MS;
        this.#failedAt = performance.now();
        logger.warn({ error }, "finding rooms without an agent failed");
      }
      // Randomized, so that workers that restart together do not all check at the same time.
      await sleep(pauseMs * (0.7 + Math.random() * 0.6), undefined, { signal }).catch(() => {});
    }
    await this.#unlisted.close();
    await Promise.all(this.#taking);
  }

  async #check(): Promise<void> {
    const { clients, sql, freeSlots } = this.#options;
    const overdueMs = freeSlots() > 0 ? 0 : FULL_AFTER_MS;
    if (!(await mayCheckRooms(sql, { restMs: CHECK_RESTS_MS, overdueMs }))) return;
    const rooms = await clients.rooms.listRooms();
    const sids = new Set(rooms.map(({ sid }) => sid));
    const abandoned = await findAbandonedRooms(sql);
    const areUnlisted = abandoned.filter(({ roomSid }) => !sids.has(roomSid));
    this.#unlisted.check(areUnlisted, new Set(rooms.map(({ name }) => name)));
    const owedSids = new Set(abandoned.filter(({ needsAgent }) => needsAgent).map(({ roomSid }) => roomSid));
    const owed = new Set(rooms.filter(({ sid }) => owedSids.has(sid)).map(({ name }) => name));
    const unserved = await this.#findUnserved(rooms, owed);
    if (unserved.length > 0) await storeWaitingRooms(sql, { forMs: WAITING_FOR_MS });
    const slots = Math.max(0, freeSlots());
    if (slots === 0) return this.#announceWaiting(unserved);
    await this.#atOnce(unserved.slice(0, slots), (one) => this.#serve(one, owed.has(one.room)));
    if (performance.now() - this.#forgotAt > FORGET_EVERY_MS) {
      this.#forgotAt = performance.now();
      await forgetAgentRequests(sql);
    }
  }

  /** @param owed names of rooms whose session lost its worker @returns unserved rooms, oldest first, empty ones last */
  async #findUnserved(rooms: readonly ListedRoom[], owed: ReadonlySet<string>): Promise<readonly UnservedRoom[]> {
    const { clients, sql, isServed, freeSlots } = this.#options;
    const waiting = rooms.filter(({ name, numParticipants, creationTime }) => {
      const createdAt = Number(creationTime) * 1_000;
      const isOlder = createdAt < this.#startedAt - NEW_ROOM_MS || createdAt < Date.now() - REST_MS;
      // A room that needs an agent but seems empty does not compete for a slot that other rooms need.
      const isWanted = numParticipants > 0 || (owed.has(name) && freeSlots() > 0);
      return isOlder && isWanted && !isServed(name);
    });
    const isEmpty = ({ numParticipants }: ListedRoom) => Number(numParticipants === 0);
    const oldestFirst = waiting.toSorted(
      (one, other) => isEmpty(one) - isEmpty(other) || Number(one.creationTime - other.creationTime),
    );
    if (oldestFirst.length === 0) return [];
    const found = await findUnserved(sql, { rooms: oldestFirst.map(({ name }) => name) });
    const isOurs = await this.#atOnce(found, ({ room }) => isMeantForUs(clients, room));
    return found.filter((_, index) => isOurs[index] === true);
  }

  async #announceWaiting(unserved: readonly UnservedRoom[]): Promise<void> {
    const { clients, logger } = this.#options;
    const news = unserved.filter(({ room }) => !this.#announced.has(room));
    if (news.length > 0) logger.error({ rooms: unserved.length }, "all workers full, rooms waiting for an agent");
    await this.#atOnce(news, ({ room }) => announceWaiting(clients, room));
    this.#announced = new Set(unserved.map(({ room }) => room));
  }

  async #serve({ room, formerOwner }: UnservedRoom, needsAgent: boolean): Promise<void> {
    const { clients, sql, serveUnclaimedDispatch, logger } = this.#options;
    if (formerOwner !== undefined && performance.now() - this.#failedAt < RENEWED_WITHIN_MS) return;
    const former = formerOwner === undefined ? undefined : agentIdentity(formerOwner);
    const isAllowed = () => mayAskForAgent(sql, { room, restMs: REST_MS });
    const dispatch = await ensureAgent(clients, room, { former, needsAgent, isAllowed });
    if (!dispatch) return;
    logger.info({ room }, "room had no agent, requested one");
    // Not awaited, so that the next checks, and with them other rooms, do not wait for it.
    const task = serveUnclaimedDispatch(dispatch).finally(() => this.#taking.delete(task));
    this.#taking.add(task);
  }

  /** Processes all rooms concurrently, so that a room for which LiveKit does not answer does not delay the others. */
  #atOnce<Result>(found: readonly UnservedRoom[], work: (one: UnservedRoom) => Promise<Result>) {
    return Promise.all(
      found.map((one) =>
        work(one).catch((error: unknown) => {
          this.#options.logger.warn({ error, room: one.room }, "checking room without an agent failed");
        }),
      ),
    );
  }
}

/**
 * Whether a new room must wait because older rooms are waiting. Free slots go to older rooms first; `watchRooms` finds
 * the new room later. Never rejects.
 */
export async function mustWait(sql: Sql, { creationTime }: { readonly creationTime: bigint }): Promise<boolean> {
  if (Number(creationTime) * 1_000 < Date.now() - REST_MS) return false;
  return areRoomsWaiting(sql).catch(() => false);
}
