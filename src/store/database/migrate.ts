import Postgrator from "postgrator";
import { AppError } from "../../errors/app-error.ts";
import { MIGRATION_FOLDER, MIGRATION_TABLE } from "./migration-files.ts";
import { migrationStatus, type MigrationStatus } from "./migration-status.ts";
import { connect, type Sql } from "./pool.ts";
import { errorKind, toStoreError } from "./store-error.ts";

/** Any number, the same in every release: it names the lock that migrating workers queue at. */
const LOCK = 4_507_231;

/**
 * Brings the database up to this code's version and says what it found. All of it is one transaction: it happens or it
 * does not. Workers that start together queue at a lock; the second finds nothing to do. A database that is newer than
 * the code is left as it is (`isDatabaseNewer`).
 *
 * @throws {AppError} `unavailable` when the database cannot be reached
 * @throws {AppError} `invalid_config` when a migration fails or an applied one was edited since
 */
export async function migrate(databaseUrl: string): Promise<MigrationStatus> {
  // Waiting for another worker's migrations takes as long as they do, so there is no limit on an answer.
  const sql = connect(databaseUrl, { maxConnections: 1, applicationName: "parley-migrate", answerTimeoutMs: 0 });
  try {
    await runMigrations(sql);
    return await migrationStatus(sql);
  } catch (error) {
    if (error instanceof AppError || errorKind(error) === "unavailable") throw toStoreError(error);
    throw new AppError("invalid_config", `The database cannot be migrated: ${messageOf(error)}`, { cause: error });
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function runMigrations(sql: Sql): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`select pg_advisory_xact_lock(${LOCK})`;
    const postgrator = new Postgrator({
      driver: "pg",
      schemaTable: MIGRATION_TABLE,
      migrationPattern: `${escapeGlob(MIGRATION_FOLDER)}/*.sql`,
      // A checkout with CRLF endings has the same checksums.
      newline: "LF",
      execQuery: async (query) => ({ rows: await transaction.unsafe(query) }),
    });
    // Asked to go down, postgrator would run "undo" files; nobody asked.
    if ((await postgrator.getDatabaseVersion()) <= (await postgrator.getMaxVersion())) await postgrator.migrate();
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function escapeGlob(path: string): string {
  return path.replaceAll(/[?*()[\]{}]/g, "[$&]");
}
