import { heldRow, type SessionWriter } from "../sessions/session-writer.ts";
import { runQuery } from "../database/store-error.ts";

/** One channel for all sessions: whoever listens sorts by the session's id, with which each payload begins. */
export const EVENT_CHANNEL = "parley_events";
/** PostgreSQL takes a little less than 8,000 bytes. */
export const MAX_PAYLOAD_BYTES = 7_500;

/**
 * Tells whoever listens, in order. PostgreSQL drops a payload that repeats another of the same batch, so no two may be
 * equal; each holds at most `MAX_PAYLOAD_BYTES` and no NUL. Once another worker has the session, nobody is told anything.
 */
export async function notifyEvents(writer: SessionWriter, payloads: readonly string[]): Promise<void> {
  await runQuery(writer.sql`
    with held as materialized (${heldRow(writer)})
    select pg_notify(${EVENT_CHANNEL}, payload)
    from held, json_array_elements_text(${JSON.stringify(payloads)}::text::json) as batch (payload)
  `);
}
