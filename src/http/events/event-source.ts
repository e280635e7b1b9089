import { type FastifyBaseLogger } from "fastify";
import { EVENT_CHANNEL, listenEvents } from "../../store/events.ts";
import { connect, type Sql } from "../../store/database/pool.ts";

/** Receives the live events of one session. Its methods must not throw. */
export interface SessionFollower {
  /** A live event as JSON. */
  readonly onEvent: (json: string) => void;
  /** Something may have been missed. */
  readonly onGap: () => void;
}

/** Where streams get their events: from the store, and live from the job processes of all machines. */
export interface EventSource {
  readonly sql: Sql;
  /** Resolves when live events are heard, or after two seconds. What is missed until they are is told by `onGap`. */
  readonly listen: () => Promise<void>;
  /** Returns a function that stops following. */
  readonly follow: (sessionId: string, follower: SessionFollower) => () => void;
  readonly close: () => Promise<void>;
}

interface SourceOptions {
  readonly databaseUrl: string;
  readonly logger: Pick<FastifyBaseLogger, "warn">;
  /** As in `listenEvents`. */
  readonly checkMs?: number;
}

const LISTEN_LIMIT_MS = 2_000;

/** One listening connection for all sessions, opened when it is first asked for. */
export function openEventSource({ databaseUrl, logger, checkMs }: SourceOptions): EventSource {
  const sql = connect(databaseUrl, { applicationName: "parley-http" });
  const followers = new Map<string, Set<SessionFollower>>();
  let listener: ReturnType<typeof listenEvents> | undefined;
  const listening = Promise.withResolvers<void>();
  const start = () =>
    listenEvents({
      databaseUrl,
      channel: EVENT_CHANNEL,
      sql,
      onEvent: (sessionId, json) => {
        for (const follower of followers.get(sessionId) ?? []) follower.onEvent(json);
      },
      onListening: () => {
        listening.resolve();
        for (const ofSession of followers.values()) for (const follower of ofSession) follower.onGap();
      },
      onError: (error) => logger.warn({ error }, "live events are not heard"),
      ...(checkMs !== undefined && { checkMs }),
    });
  return {
    sql,
    listen: async () => {
      listener ??= start();
      const timer = setTimeout(() => listening.resolve(), LISTEN_LIMIT_MS);
      await listening.promise;
      clearTimeout(timer);
    },
    follow: (sessionId, follower) => {
      const ofSession = followers.get(sessionId) ?? new Set();
      followers.set(sessionId, ofSession.add(follower));
      return () => {
        ofSession.delete(follower);
        if (ofSession.size === 0 && followers.get(sessionId) === ofSession) followers.delete(sessionId);
      };
    },
    close: async () => {
      await listener?.close();
      await sql.end({ timeout: 1 });
    },
  };
}
