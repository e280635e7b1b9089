import PQueue from "p-queue";
import type { AbandonedRoom, SessionRoom } from "../../store/sessions/session-rooms.ts";
import type { Logger } from "../logger.ts";
import { hasRoom, type RoomClients } from "./ensure-agent.ts";

interface UnlistedOptions {
  readonly clients: RoomClients;
  /** Called for a room that LiveKit still has. */
  readonly serve: (room: AbandonedRoom) => Promise<void>;
  /** Called for a room that LiveKit has closed. Must not reject. */
  readonly onClosed: (room: SessionRoom) => Promise<void>;
  readonly logger: Pick<Logger, "warn">;
  readonly signal: AbortSignal;
}

export interface UnlistedRooms {
  /** Looks at abandoned rooms, unless that is under way already. Returns at once. */
  readonly look: (rooms: readonly AbandonedRoom[], listedNames: ReadonlySet<string>) => void;
  /** Resolves when what was begun before `signal` was aborted is done. */
  readonly close: () => Promise<void>;
}

/** How many rooms are looked at at the same time: LiveKit takes 3 s to answer for a closed one. */
const AT_ONCE = 50;

/**
 * Tells apart why LiveKit does not list a session's room: it has closed the room, or it has lost its list, which is in
 * Redis, and people may still be there.
 */
export function lookAtUnlistedRooms({ clients, serve, onClosed, logger, signal }: UnlistedOptions): UnlistedRooms {
  const queue = new PQueue({ concurrency: AT_ONCE });
  const underLook = new Set<string>();
  const acting = new Set<Promise<void>>();
  const lookAt = async (one: AbandonedRoom, isReplaced: boolean) => {
    try {
      const isOpen = !isReplaced && (await hasRoom(clients, one.room));
      if (signal.aborted) return;
      const act = (isOpen ? serve(one) : onClosed(one)).finally(() => acting.delete(act));
      acting.add(act);
      await act;
    } catch (error) {
      if (!signal.aborted)
        logger.warn({ error, room: one.room }, "could not look at a room that LiveKit does not list");
    } finally {
      underLook.delete(one.roomSid);
    }
  };
  return {
    look: (rooms, listedNames) => {
      for (const one of rooms) {
        if (underLook.has(one.roomSid)) continue;
        underLook.add(one.roomSid);
        // LiveKit has only one room of a name: where it lists another one, this one is closed.
        void queue.add(() => lookAt(one, listedNames.has(one.room)));
      }
    },
    close: async () => {
      queue.clear();
      await Promise.allSettled(acting);
    },
  };
}
