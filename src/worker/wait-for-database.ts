import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../errors/app-error.ts";
import { type DatabaseEndpoints, findDatabaseEndpoints } from "../store/database/database-endpoints.ts";
import { type MigrationStatus, migrate } from "../store/database/migrate.ts";
import { databasePlace } from "./settings/database-url.ts";
import type { ReportProgress } from "./services/service.ts";

interface WaitOptions {
  readonly progress: ReportProgress;
  readonly signal: AbortSignal;
  readonly retryMs?: number;
}

const RETRY_MS = 1_000;
/** How long to wait before an unchanged progress line is printed again. */
const REPEAT_AFTER_MS = 30_000;

interface Addresses {
  readonly databaseUrl: string;
  /** An address that bypasses the pooler, if `databaseUrl` points to a pooler. */
  readonly directUrl: string | undefined;
}

/**
 * Migrates the database as soon as it answers, then determines which addresses to use.
 *
 * @throws as `migrateWhenAvailable`
 */
export async function prepareDatabase(
  { databaseUrl, directUrl }: Addresses,
  options: WaitOptions,
): Promise<MigrationStatus & DatabaseEndpoints> {
  const status = await migrateWhenAvailable(directUrl ?? databaseUrl, options);
  const endpoints = await retryUntilAvailable(
    databaseUrl,
    () => findDatabaseEndpoints(databaseUrl, directUrl),
    options,
  );
  return { ...status, ...endpoints };
}

/**
 * Migrates the database as soon as it answers. Throws errors that waiting cannot fix, such as a wrong password.
 *
 * @throws {AppError} `invalid_config` as `migrate` does; an AbortError if the signal aborts
 */
export async function migrateWhenAvailable(databaseUrl: string, options: WaitOptions): Promise<MigrationStatus> {
  return retryUntilAvailable(databaseUrl, () => migrate(databaseUrl), options);
}

/** Retries without a limit while the database does not answer, because it may still be starting. */
async function retryUntilAvailable<Result>(
  databaseUrl: string,
  work: () => Promise<Result>,
  { progress, signal, retryMs = RETRY_MS }: WaitOptions,
): Promise<Result> {
  let reported = { text: "", at: 0 };
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "unavailable") throw error;
      const text = `waiting for the database at ${databasePlace(databaseUrl)}: ${error.message}`;
      if (text !== reported.text || performance.now() - reported.at >= REPEAT_AFTER_MS) {
        progress(text);
        reported = { text, at: performance.now() };
      }
    }
    await sleep(retryMs, undefined, { signal });
  }
}
