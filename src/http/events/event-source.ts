import type { FastifyBaseLogger } from "fastify";
import { connect, type Sql } from "../../store/database/pool.ts";
import { type EventHub, openEventHub } from "../../store/event-hub.ts";
import { loadSessionMarks } from "../../store/sessions/session-marks.ts";
import { EVENT_CHANNEL } from "../../store/events.ts";

/** Where streams get their events from: the store, and live events of all job processes, on any machine. */
export interface EventSource extends EventHub {
  readonly sql: Sql;
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
  const onError = (error: unknown) => logger.warn({ error }, "live events are not heard");
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
  return { ...hub, sql, close };
}
