import { createId } from "../lib/id.ts";
import { type Sql, connect } from "./database/pool.ts";
import { runQuery } from "./database/store-error.ts";
import { type SessionWriter, fencingRow } from "./sessions/session-writer.ts";

export interface ListenOptions {
  /** PostgreSQL's own address, because a pooler in transaction mode does not pass notifications on. */
  readonly listenUrl: string;
  /** The channel to listen to. Its payloads begin with a session's id and a space. */
  readonly channel: string;
  /** Used for the pings. */
  readonly sql: Sql;
  /** Receives `payload` without the session's id. Must not throw. */
  readonly onEvent: (sessionId: string, payload: string) => void;
  /**
   * Called when a connection starts receiving notifications. Notifications since the previous connection were missed.
   */
  readonly onListening: () => void;
  readonly onError: (error: unknown) => void;
  /** How often the connection is checked with a ping. @defaultValue 5000 */
  readonly checkMs?: number;
}

const PING = "ping";
/** The number of checks without a notification after which `isReceiving` returns false. */
const UNSURE_CHECKS = 2;
/** The number of checks without a notification after which the connection counts as dead. */
const SILENT_CHECKS = 3;

export interface EventListener {
  /**
   * Whether notifications are arriving, including the listener's own pings. Returns false within two checks after the
   * connection is lost.
   */
  readonly isReceiving: () => boolean;
  readonly close: () => Promise<void>;
}

/**
 * Listens to one channel for all sessions. postgres.js reconnects after a lost connection. A connection that died
 * unnoticed stops receiving pings and is replaced.
 */
export function listenEvents(options: ListenOptions): EventListener {
  const { listenUrl, channel, sql, onEvent, onListening, onError, checkMs = 5_000 } = options;
  const ping = `${PING} ${createId()}`;
  let listener: Sql | undefined;
  let triedAt = 0;
  let receivedAt = Number.NEGATIVE_INFINITY;
  const listen = () => {
    void listener?.end({ timeout: 0 }).catch(() => {});
    const current = connect(listenUrl, { maxConnections: 1, applicationName: "parley-events" });
    listener = current;
    triedAt = performance.now();
    const handle = (payload: string) => {
      if (listener !== current) return;
      receivedAt = performance.now();
      const space = payload.indexOf(" ");
      const sessionId = payload.slice(0, space);
      if (sessionId !== PING) onEvent(sessionId, payload.slice(space + 1));
    };
    const handleListening = () => {
      if (listener !== current) return;
      receivedAt = performance.now();
      onListening();
    };
    current.listen(channel, handle, handleListening).catch((error: unknown) => {
      if (listener === current) onError(error);
    });
  };
  const timer = setInterval(() => {
    if (performance.now() - Math.max(receivedAt, triedAt) > SILENT_CHECKS * checkMs) listen();
    sql.notify(channel, ping).catch(onError);
  }, checkMs);
  listen();
  return {
    isReceiving: () => performance.now() - receivedAt < UNSURE_CHECKS * checkMs,
    close: async () => {
      clearInterval(timer);
      const last = listener;
      listener = undefined;
      await last?.end({ timeout: 0 });
    },
  };
}

/** The channel for the live events of all sessions. Each payload begins with the session's id. */
export const EVENT_CHANNEL = "parley_events";
/** The maximum size of a payload, slightly below PostgreSQL's limit of 8,000 bytes. */
export const MAX_PAYLOAD_BYTES = 7_500;

/**
 * Sends payloads to all listeners, in order. Payloads of a batch must differ, because PostgreSQL drops duplicates. A
 * payload may contain at most `MAX_PAYLOAD_BYTES` and no NUL. Sends nothing once another worker has claimed the
 * session.
 */
export async function notifyEvents(writer: SessionWriter, payloads: readonly string[]): Promise<void> {
  await runQuery(writer.sql`
    with fence as materialized (${fencingRow(writer)})
    select pg_notify(${EVENT_CHANNEL}, payload)
    from fence, json_array_elements_text(${JSON.stringify(payloads)}::text::json) as batch (payload)
  `);
}
