import { createId } from "../../lib/id.ts";
import { connect, type Sql } from "../database/pool.ts";

export interface ListenOptions {
  readonly databaseUrl: string;
  /** Whose payloads begin with a session's id and a space. */
  readonly channel: string;
  /** Sends the pings. */
  readonly sql: Sql;
  /** `payload` without the session's id. Must not throw. */
  readonly onEvent: (sessionId: string, payload: string) => void;
  /** It listens from now on. What was sent before, since it listened last, has not been heard. */
  readonly onListening: () => void;
  readonly onError: (error: unknown) => void;
  /** How often it looks whether it still hears. @defaultValue 5000 */
  readonly checkMs?: number;
}

const PING = "ping";
/** Checks without a sound until the connection counts as dead. */
const SILENT_CHECKS = 3;

/**
 * Hears every notification of one channel, of all sessions. The driver reconnects by itself; a connection that died
 * without a word is found because it no longer hears its own pings, and is replaced.
 */
export function listenEvents(options: ListenOptions): { readonly close: () => Promise<void> } {
  const { databaseUrl, channel, sql, onEvent, onListening, onError, checkMs = 5_000 } = options;
  const ping = `${PING} ${createId()}`;
  let listener: Sql | undefined;
  let heardAt = 0;
  const listen = () => {
    void listener?.end({ timeout: 0 }).catch(() => {});
    const current = connect(databaseUrl, { maxConnections: 1, applicationName: "parley-events" });
    listener = current;
    heardAt = performance.now();
    const handle = (payload: string) => {
      if (listener !== current) return;
      heardAt = performance.now();
      const space = payload.indexOf(" ");
      const sessionId = payload.slice(0, space);
      if (sessionId !== PING) onEvent(sessionId, payload.slice(space + 1));
    };
    current
      .listen(channel, handle, () => listener === current && onListening())
      .catch((error: unknown) => {
        if (listener === current) onError(error);
      });
  };
  const timer = setInterval(() => {
    if (performance.now() - heardAt > SILENT_CHECKS * checkMs) listen();
    sql.notify(channel, ping).catch(onError);
  }, checkMs);
  listen();
  return {
    close: async () => {
      clearInterval(timer);
      const last = listener;
      listener = undefined;
      await last?.end({ timeout: 0 });
    },
  };
}
