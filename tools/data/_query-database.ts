import postgres from "postgres";
import { abortable } from "../../src/lib/abortable.ts";
import { openSession, type Session } from "./_open-session.ts";
import type { QuerySettings } from "./_query-settings.ts";
import { refusePowerfulRole } from "./_role-guard.ts";
import { runQuery, type Query, type QueryResult } from "./_run-query.ts";

/** How long connecting and checking the role may take, in addition to the statement's own time. */
const GRACE_MS = 6_000;
/** The SQLSTATE query_canceled: the server's own statement_timeout was exceeded. */
const QUERY_CANCELED = "57014";

/**
 * Runs one query in a separate session, so no setting, lock or change outlives it. Three limits apply, because the
 * query could disable one of them: the server's statement_timeout, a deadline here, and `signal`. The last two also
 * cancel the query on the server. An abort rejects with the signal's reason.
 */
export async function queryDatabase(query: Query, settings: QuerySettings, signal: AbortSignal): Promise<QueryResult> {
  signal.throwIfAborted();
  const tooLong = new Error(`The query took longer than ${settings.statementTimeoutMs} ms`);
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(tooLong), settings.statementTimeoutMs + GRACE_MS);
  const either = AbortSignal.any([signal, deadline.signal]);
  try {
    await using session = openSession(settings.url);
    return await abortable(readOnly(session, query, { ...settings, signal: either }), either);
  } catch (error) {
    either.throwIfAborted();
    throw error instanceof postgres.PostgresError && error.code === QUERY_CANCELED ? tooLong : shown(error);
  } finally {
    clearTimeout(timer);
  }
}

/** The transaction is never committed: it ends with the session. */
async function readOnly(session: Session, query: Query, settings: QuerySettings & { readonly signal: AbortSignal }) {
  try {
    await session.query("begin read only");
  } catch (error) {
    throw new Error("The database cannot be reached", { cause: error });
  }
  await session.query(`set local statement_timeout = ${settings.statementTimeoutMs}`);
  await refusePowerfulRole(session);
  return await runQuery(session, query, settings);
}

/**
 * PostgreSQL's messages help the model fix its query. The driver's messages contain the host, so they are not passed
 * on.
 */
function shown(error: unknown): unknown {
  if (error instanceof postgres.PostgresError) {
    const hint = error.hint === undefined ? "" : ` Hint: ${error.hint}`;
    return new Error(`${error.message} (${error.code}).${hint}`, { cause: error });
  }
  const isDriverError = error instanceof Error && "code" in error;
  return isDriverError ? new Error("The database connection was lost", { cause: error }) : error;
}
