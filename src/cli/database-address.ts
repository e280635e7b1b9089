import { toAddress } from "../store/database/address.ts";
import { withPassword } from "../worker/settings/database-url.ts";
import { UsageError } from "../worker/settings/command-line.ts";

interface DatabaseSetting {
  /** The flag or the variable that holds the address. */
  readonly name: string;
  readonly url: string;
}

/**
 * Checks the address of a command's database, and adds the password of PGPASSWORD if it has none.
 *
 * @throws {UsageError} naming the setting. @throws {AppError} `invalid_config` naming it
 */
export function databaseAddress(
  { name, url }: DatabaseSetting,
  { PGPASSWORD: password }: Readonly<Record<string, string | undefined>>,
): string {
  const address = toAddress(url);
  // The address is not shown: it may hold a password.
  if (address === undefined) throw new UsageError(`${name}: expected a URL such as postgres://127.0.0.1:5432/parley`);
  return withPassword(address, { name, password: password || undefined });
}

/**
 * The database that the environment names for a command, which may go past the worker's pooler: `DATABASE_DIRECT_URL`,
 * else `DATABASE_URL`. `undefined` when neither is set.
 */
export function namedDatabase(environment: Readonly<Record<string, string | undefined>>): DatabaseSetting | undefined {
  for (const name of ["DATABASE_DIRECT_URL", "DATABASE_URL"]) {
    const url = environment[name];
    if (url) return { name, url };
  }
  return undefined;
}
