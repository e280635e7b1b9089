import type { Sql } from "./database/pool.ts";
import { type EventListener, listenEvents } from "./events.ts";
import { pollSessions } from "./poll-sessions.ts";
import type { LoadMarks } from "./sessions/session-marks.ts";

/** Is notified of one session's events. Its methods must not throw. */
export interface SessionFollower {
  /** Called with a notification's payload. */
  readonly onEvent: (payload: string) => void;
  /** Called when notifications may have been missed. */
  readonly onGap: () => void;
}

/**
 * Shares one listening connection among all sessions of a process. While notifications cannot be received, sessions are
 * polled instead, and followers are notified of changes through `onGap` within about a second.
 */
export interface EventHub {
  /**
   * Starts listening. Resolves once notifications are received, or after 2 s at the latest. Changes before that are
   * reported through `onGap`.
   */
  readonly listen: () => Promise<void>;
  /** Follows a session. Returns a function that stops following. */
  readonly follow: (sessionId: string, follower: SessionFollower) => () => void;
  readonly close: () => Promise<void>;
}

interface HubOptions {
  /** PostgreSQL's own address, as in `listenEvents`. If `undefined`, sessions are polled. */
  readonly listenUrl: string | undefined;
  readonly channel: string;
  /** Loads the marks, which polling compares to detect changes. */
  readonly loadMarks: LoadMarks;
  /** Used for pings and polling. */
  readonly sql: Sql;
  readonly onError: (error: unknown) => void;
  /** How often the connection is checked, as in `listenEvents`. */
  readonly checkMs?: number;
}

const LISTEN_LIMIT_MS = 2_000;

/** Opens an event hub. It connects on the first call of `listen`. Closing it leaves `sql` open. */
export function openEventHub({ listenUrl, ...options }: HubOptions): EventHub {
  const { sql, loadMarks, onError } = options;
  const followers = new Map<string, Set<SessionFollower>>();
  const listening = Promise.withResolvers<void>();
  const closing = new AbortController();
  let listener: EventListener | undefined;
  let polling: Promise<void> | undefined;
  const followersOf = (sessionId: string) => followers.get(sessionId) ?? [];
  const notifyGap = (sessionId: string) => {
    for (const follower of followersOf(sessionId)) follower.onGap();
  };
  const startListening = (url: string) =>
    listenEvents({
      ...options,
      listenUrl: url,
      onEvent: (sessionId, payload) => {
        for (const follower of followersOf(sessionId)) follower.onEvent(payload);
      },
      onListening: () => {
        listening.resolve();
        for (const sessionId of followers.keys()) notifyGap(sessionId);
      },
    });
  const start = () => {
    if (listenUrl === undefined) listening.resolve();
    else listener = startListening(listenUrl);
    const followed = () => (listener?.isReceiving() === true ? [] : [...followers.keys()]);
    return pollSessions({ sql, loadMarks, followed, onChanged: notifyGap, onError, signal: closing.signal });
  };
  return {
    listen: async () => {
      polling ??= start();
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
      closing.abort();
      await Promise.all([listener?.close(), polling]);
    },
  };
}
