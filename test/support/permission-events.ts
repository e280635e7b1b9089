import type { Sql } from "../../src/store/database/pool.ts";
import { type EventHub, openEventHub } from "../../src/store/event-hub.ts";
import { loadRequestMarks } from "../../src/store/sessions/session-marks.ts";
import { PERMISSION_CHANNEL } from "../../src/store/permissions/reply-to-permission.ts";

/** Receives answers to permission requests, as a job process does. */
export function openPermissionEvents(listenUrl: string | undefined, sql: Sql): EventHub {
  return openEventHub({
    listenUrl,
    channel: PERMISSION_CHANNEL,
    loadMarks: loadRequestMarks,
    sql,
    onError: () => {},
  });
}
