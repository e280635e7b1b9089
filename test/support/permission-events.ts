import { type Sql } from "../../src/store/database/pool.ts";
import { type EventHub, openEventHub } from "../../src/store/event-hub.ts";
import { PERMISSION_CHANNEL } from "../../src/store/permissions/reply-to-permission.ts";

/** Hears of answers to permission requests, as a job process does. */
export function openPermissionEvents(databaseUrl: string, sql: Sql): EventHub {
  return openEventHub({ databaseUrl, channel: PERMISSION_CHANNEL, sql, onError: () => {} });
}
