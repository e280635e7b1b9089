import PQueue from "p-queue";
import type { AbandonedRoom, SessionRoom } from "../../store/sessions/session-rooms.ts";
import type { Logger } from "../logger.ts";
import { hasRoom, type RoomClients } from "./ensure-agent.ts";

interface UnlistedOptions {
  readonly clients: RoomClients;
  /** Called for a room that still exists in LiveKit. */
  readonly serve: (room: AbandonedRoom) => Promise<void>;
  /** Called for a room that LiveKit has closed. Must not reject. */
  readonly onClosed: (room: SessionRoom) => Promise<void>;
  readonly logger: Pick<Logger, "warn">;
  readonly signal: AbortSignal;
}

export interface UnlistedRooms {
  /** Checks these abandoned rooms, except those already being checked. Returns immediately. */
  readonly check: (rooms: readonly AbandonedRoom[], listedNames: ReadonlySet<string>) => void;
  /** Drops rooms not checked yet. Resolves once all calls of `serve` and `onClosed` are done. */
  readonly close: () => Promise<void>;
}

/** How many rooms are checked at a time. For a closed room, LiveKit takes 3 s to answer. */
const AT_ONCE = 50;

/**
 * Finds out why LiveKit does not list a session's room. Either LiveKit has closed the room, or LiveKit has lost its
 * lists along with its Redis. In the second case, participants may still be in the room.
 */
export function checkUnlistedRooms({ clients, serve, onClosed, logger, signal }: UnlistedOptions): UnlistedRooms {
  const queue = new PQueue({ concurrency: AT_ONCE });
  const checking = new Set<string>();
  const acting = new Set<Promise<void>>();
  const check = async (one: AbandonedRoom, isReplaced: boolean) => {
    try {
      const isOpen = !isReplaced && (await hasRoom(clients, one.room));
      if (signal.aborted) return;
      const act = (isOpen ? serve(one) : onClosed(one)).finally(() => acting.delete(act));
      acting.add(act);
      await act;
    } catch (error) {
      if (!signal.aborted) logger.warn({ error, room: one.room }, "checking unlisted room failed");
    } finally {
      checking.delete(one.roomSid);
    }
  };
  return {
    check: (rooms, listedNames) => {
      for (const one of rooms) {
        if (checking.has(one.roomSid)) continue;
        checking.add(one.roomSid);
        // Room names are unique in LiveKit. If LiveKit lists another room of this name, this room is closed.
        void queue.add(() => check(one, listedNames.has(one.room)));
      }
    },
    close: async () => {
      queue.clear();
      await Promise.allSettled(acting);
    },
  };
}
