import { toAddress } from "../store/database/address.ts";
import { withPassword } from "../worker/settings/database-url.ts";
import { UsageError } from "../worker/settings/command-line.ts";

interface DatabaseSetting {
  /** The flag or variable that contains the address. */
  readonly name: string;
  readonly url: string;
}

/**
 * Validates a command's database address, and adds PGPASSWORD if the address has no password.
 *
 * @throws {UsageError} naming the setting. @throws {AppError} `invalid_config`, naming the setting
 */
export function databaseAddress(
  { name, url }: DatabaseSetting,
  { PGPASSWORD: password }: Readonly<Record<string, string | undefined>>,
): string {
  const address = toAddress(url);
  // The address is not shown, because it may contain a password.
  if (address === undefined) throw new UsageError(`${name}: expected a URL such as postgres://127.0.0.1:5432/parley`);
  return withPassword(address, { name, password: password || undefined });
}

/**
 * Returns the database that the environment sets for a command: `DATABASE_DIRECT_URL`, which may bypass the worker's
 * pooler, or else `DATABASE_URL`. `undefined` if neither is set.
 */
export function namedDatabase(environment: Readonly<Record<string, string | undefined>>): DatabaseSetting | undefined {
  for (const name of ["DATABASE_DIRECT_URL", "DATABASE_URL"]) {
    const url = environment[name];
    if (url) return { name, url };
  }
  return undefined;
}
