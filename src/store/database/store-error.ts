import { AppError } from "../../errors/app-error.ts";

/** SQLSTATE classes that say "not now", about any statement: connection, resources, operator, system, retry. */
const UNAVAILABLE = /^(08|40|53|57|58|25006)/;
/** SQLSTATE classes that say "not this row": bad data, a broken rule, a limit. */
const REFUSED = /^(22|23|54)/;
/** No class begins with E, but codes of a lost connection do: EPIPE. */
const SQLSTATE = /^(?!E)[0-9A-Z]{5}$/;

/**
 * The kind of a failed statement: `unavailable` may be tried again later, `refused` is never accepted as it is, and
 * `other` is a mistake in Parley or of its operator (no such table, no permission).
 */
export function errorKind(error: unknown): "unavailable" | "refused" | "other" {
  const code = errorCode(error);
  // JSON.stringify throws these for a cycle, a bigint, or a text that is too long.
  if (code === undefined) return error instanceof TypeError || error instanceof RangeError ? "refused" : "other";
  if (!SQLSTATE.test(code) || UNAVAILABLE.test(code)) return "unavailable";
  return REFUSED.test(code) ? "refused" : "other";
}

/** SQLSTATE, or the code that Node or postgres.js gives to a lost connection. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/**
 * An error whose message has only the code, because the driver's message may quote content; that one is its `cause`.
 */
export function toStoreError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const detail = errorCode(error) ?? "no code";
  return errorKind(error) === "unavailable"
    ? new AppError("unavailable", `The database is unavailable (${detail})`, { cause: error })
    : new AppError("internal", `The database refused a statement (${detail})`, { cause: error });
}

/**
 * Runs a statement of the store.
 *
 * @throws {AppError} `unavailable`: the statement may have been executed or not, and may be tried again
 * @throws {AppError} `internal`: the database refused the statement
 */
export async function runQuery<Rows>(query: Promise<Rows>): Promise<Rows> {
  try {
    return await query;
  } catch (error) {
    throw toStoreError(error);
  }
}
