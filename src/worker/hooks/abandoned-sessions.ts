import { endAbandonedRoom, type SessionRoom } from "../../store/sessions/session-rooms.ts";
import type { Logger } from "../logger.ts";
import type { Service } from "../services/service.ts";
import { callSessionEnd, type EndHookOptions } from "./call-session-end.ts";

interface UnseenEndsOptions extends EndHookOptions {
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
  /** Whether a webhook notifies the operator's server. */
  readonly hasEndWebhook: boolean;
}

export interface AbandonedSessions extends Service {
  /** Ends a session whose room LiveKit closed while no worker was in it, as after a crash. Never rejects. */
  readonly end: (room: SessionRoom) => Promise<void>;
}

/** Stores the end of sessions that ended while no worker was in their room, and calls their hooks. */
export function createAbandonedSessions(options: UnseenEndsOptions): AbandonedSessions {
  const { sql, logger, hasEndWebhook } = options;
  const running = new Set<Promise<void>>();
  const end = async ({ sessionId, roomSid }: SessionRoom) => {
    const room = { sessionId, roomSid };
    try {
      if (!(await endAbandonedRoom(sql, { ...room, hasEndWebhook }))) return;
      logger.info(room, "session ended: LiveKit closed its room while no agent was in it");
      const calling = callSessionEnd(room, options).finally(() => running.delete(calling));
      running.add(calling);
    } catch (error) {
      logger.warn({ error, ...room }, "could not end a session whose room is closed");
    }
  };
  return { end, close: async () => void (await Promise.all(running)) };
}
