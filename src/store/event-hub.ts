import { type Sql } from "./database/pool.ts";
import { listenEvents } from "./events.ts";

/** Hears of one session. Its methods must not throw. */
export interface SessionFollower {
  /** A notification's payload. */
  readonly onEvent: (payload: string) => void;
  /** Something may have been missed. */
  readonly onGap: () => void;
}

/** One listening connection for all sessions of a process. */
export interface EventHub {
  /** Resolves when notifications are heard, or after two seconds. What is missed until they are is told by `onGap`. */
  readonly listen: () => Promise<void>;
  /** Returns a function that stops following. */
  readonly follow: (sessionId: string, follower: SessionFollower) => () => void;
  readonly close: () => Promise<void>;
}

interface HubOptions {
  readonly databaseUrl: string;
  readonly channel: string;
  /** Sends the pings. */
  readonly sql: Sql;
  readonly onError: (error: unknown) => void;
  /** As in `listenEvents`. */
  readonly checkMs?: number;
}

const LISTEN_LIMIT_MS = 2_000;

/** Connects when it is first asked to listen. `sql` stays open. */
export function openEventHub(options: HubOptions): EventHub {
  const followers = new Map<string, Set<SessionFollower>>();
  const listening = Promise.withResolvers<void>();
  let listener: ReturnType<typeof listenEvents> | undefined;
  const start = () =>
    listenEvents({
      ...options,
      onEvent: (sessionId, payload) => {
        for (const follower of followers.get(sessionId) ?? []) follower.onEvent(payload);
      },
      onListening: () => {
        listening.resolve();
        for (const ofSession of followers.values()) for (const follower of ofSession) follower.onGap();
      },
    });
  return {
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
    close: async () => listener?.close(),
  };
}
