import { endUnseenRooms } from "../../store/sessions/session-rooms.ts";
import type { Logger } from "../logger.ts";
import type { Service } from "../services/service.ts";
import { callSessionEnd, type EndHookOptions } from "./call-session-end.ts";

interface UnseenEndsOptions extends EndHookOptions {
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
  /** Whether a webhook tells the operator's server. */
  readonly isTold: boolean;
}

export interface UnseenEnds extends Service {
  /** Ends the sessions whose room LiveKit does not have any more. Never rejects. */
  readonly look: (roomSids: readonly string[]) => Promise<void>;
}

/** Finds the ends of sessions whose room was closed while no worker was in it, as after a crash. */
export function watchUnseenEnds(options: UnseenEndsOptions): UnseenEnds {
  const { sql, logger, isTold } = options;
  const running = new Set<Promise<void>>();
  const look = async (roomSids: readonly string[]) => {
    try {
      const rooms = await endUnseenRooms(sql, { roomSids, isTold });
      if (rooms.length > 0) logger.info({ rooms: rooms.length }, "rooms are over in which no agent was");
      for (const room of rooms) {
        const calling = callSessionEnd(room, options).finally(() => running.delete(calling));
        running.add(calling);
      }
    } catch (error) {
      logger.warn({ error }, "sessions that are over cannot be looked for");
    }
  };
  return { look, close: async () => void (await Promise.all(running)) };
}
