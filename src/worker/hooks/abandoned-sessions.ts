import { endAbandonedRoom, type SessionRoom } from "../../store/sessions/session-rooms.ts";
import type { Logger } from "../logger.ts";
import type { Service } from "../services/service.ts";
import { callSessionEnd, type EndHookOptions } from "./call-session-end.ts";

interface AbandonedSessionsOptions extends EndHookOptions {
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
  /** Whether the operator's server is notified by webhook when a session ends. */
  readonly hasEndWebhook: boolean;
}

export interface AbandonedSessions extends Service {
  /** Ends a session whose room LiveKit closed while no worker was in it, for example after a crash. Never rejects. */
  readonly end: (room: SessionRoom) => Promise<void>;
}

/** Stores the end of sessions that ended while no worker was in their room, and calls their hooks. */
export function createAbandonedSessions(options: AbandonedSessionsOptions): AbandonedSessions {
  const { sql, logger, hasEndWebhook } = options;
  const running = new Set<Promise<void>>();
  const end = async ({ sessionId, roomSid }: SessionRoom) => {
    const room = { sessionId, roomSid };
    try {
      if (!(await endAbandonedRoom(sql, { ...room, hasEndWebhook }))) return;
      logger.info(room, "session ended, room closed without an agent");
      const calling = callSessionEnd(room, options).finally(() => running.delete(calling));
      running.add(calling);
    } catch (error) {
      logger.warn({ error, ...room }, "ending session of closed room failed");
    }
  };
  return { end, close: async () => void (await Promise.all(running)) };
}
