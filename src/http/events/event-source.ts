import type { FastifyBaseLogger } from "fastify";
import { parseLiveEvent, type LiveEvent } from "../../session/events/live-event.ts";
import { connect, type Sql } from "../../store/database/pool.ts";
import { type EventHub, openEventHub } from "../../store/event-hub.ts";
import { loadSessionMarks } from "../../store/sessions/session-marks.ts";
import { EVENT_CHANNEL } from "../../store/events.ts";
import { SharedReads } from "./shared-reads.ts";

/**
 * Follows one session. Its methods must not throw and must not modify an event, because all followers receive the same
 * object.
 */
export interface LiveFollower {
  /** `length` is the length of the event's JSON. */
  readonly onEvent: (event: LiveEvent, length: number) => void;
  /** Called when events may have been missed. */
  readonly onGap: () => void;
}

/** The source of all event streams: the store, and live events from host processes on any machine. */
export interface EventSource extends Omit<EventHub, "follow"> {
  readonly sql: Sql;
  readonly reads: SharedReads;
  /** Returns a function that stops following. */
  readonly follow: (sessionId: string, follower: LiveFollower) => () => void;
}

interface SourceOptions {
  readonly databaseUrl: string;
  /** As in `openEventHub`. */
  readonly listenUrl: string | undefined;
  readonly logger: Pick<FastifyBaseLogger, "warn">;
  /** As in `listenEvents`. */
  readonly checkMs?: number;
}

export function openEventSource({ databaseUrl, listenUrl, logger, checkMs }: SourceOptions): EventSource {
  const sql = connect(databaseUrl, { applicationName: "parley" });
  const onError = (error: unknown) => logger.warn({ error }, "live event listener failed, retrying");
  const hub = openEventHub({
    listenUrl,
    channel: EVENT_CHANNEL,
    loadMarks: loadSessionMarks,
    sql,
    onError,
    ...(checkMs !== undefined && { checkMs }),
  });
  const close = async () => {
    await hub.close();
    await sql.end({ timeout: 1 });
  };
  return { ...hub, sql, reads: new SharedReads(sql), follow: shareEvents(hub), close };
}

/** Parses each event of a session once for all its followers. */
function shareEvents(hub: EventHub): EventSource["follow"] {
  const sessions = new Map<string, { readonly followers: Set<LiveFollower>; readonly leave: () => void }>();
  const begin = (sessionId: string) => {
    const followers = new Set<LiveFollower>();
    const onGap = () => {
      for (const follower of followers) follower.onGap();
    };
    const onEvent = (json: string) => {
      const event = parseLiveEvent(json);
      if (!event || event.event === "gap") return onGap();
      for (const follower of followers) follower.onEvent(event, json.length);
    };
    const session = { followers, leave: hub.follow(sessionId, { onEvent, onGap }) };
    sessions.set(sessionId, session);
    return session;
  };
  return (sessionId, follower) => {
    const { followers, leave } = sessions.get(sessionId) ?? begin(sessionId);
    followers.add(follower);
    return () => {
      if (!followers.delete(follower) || followers.size > 0) return;
      sessions.delete(sessionId);
      leave();
    };
  };
}
