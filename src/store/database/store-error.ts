import { AppError } from "../../errors/app-error.ts";

/**
 * SQLSTATE classes of errors that can hit any statement and may pass: connection, resources, operator, system, retry.
 */
const UNAVAILABLE = /^(08|40|53|57|58|25006)/;
/** SQLSTATE classes of errors that a row always causes: bad data, a violated constraint, a limit. */
const REFUSED = /^(22|23|54)/;
/** Matches a SQLSTATE. No SQLSTATE class begins with E, but codes of a lost connection do, such as EPIPE. */
const SQLSTATE = /^(?!E)[0-9A-Z]{5}$/;

/**
 * Classifies a failed statement. `unavailable`: it may succeed later. `refused`: it can never succeed as it is.
 * `other`: a mistake in Parley or in the setup (missing table, missing privilege).
 */
export function errorKind(error: unknown): "unavailable" | "refused" | "other" {
  const code = errorCode(error);
  // JSON.stringify throws a TypeError for a cycle or a bigint, and a RangeError for a string that is too long.
  if (code === undefined) return error instanceof TypeError || error instanceof RangeError ? "refused" : "other";
  if (!SQLSTATE.test(code) || UNAVAILABLE.test(code)) return "unavailable";
  return REFUSED.test(code) ? "refused" : "other";
}

/** Returns the SQLSTATE, or the code that Node or postgres.js sets for a lost connection. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/**
 * Returns an error whose message contains only the code, because the driver's message may quote content. The driver's
 * error is its `cause`.
 */
export function toStoreError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const detail = errorCode(error) ?? "no code";
  return errorKind(error) === "unavailable"
    ? new AppError("unavailable", `The database is unavailable (${detail})`, { cause: error })
    : new AppError("internal", `The database rejected a statement (${detail})`, { cause: error });
}

/**
 * Runs a statement of the store.
 *
 * @throws {AppError} `unavailable`: the statement may or may not have been executed, and may be retried
 * @throws {AppError} `internal`: the database refused the statement
 */
export async function runQuery<Rows>(query: Promise<Rows>): Promise<Rows> {
  try {
    return await query;
  } catch (error) {
    throw toStoreError(error);
  }
}
