import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type postgres from "postgres";
import Postgrator from "postgrator";
import { AppError } from "../../errors/app-error.ts";
import { driver } from "./driver.ts";
import { type Sql, connect } from "./pool.ts";
import { errorKind, runQuery, toStoreError } from "./store-error.ts";

export const MIGRATION_FOLDER = join(import.meta.dirname, "migrations");
/** postgrator's own table: version, name, MD5 and time of each migration. */
const MIGRATION_TABLE = "parley_migrations";

interface MigrationFile {
  /** The number at the start of the file name: 1 for `001.do.record.sql`. */
  readonly version: number;
  readonly fileName: string;
}

/** Returns the migrations of this release, oldest first. */
export async function migrationFiles(): Promise<MigrationFile[]> {
  const fileNames = (await readdir(MIGRATION_FOLDER)).filter((fileName) => /^\d+\.do\..+\.sql$/.test(fileName));
  const files = fileNames.map((fileName) => ({ version: Number.parseInt(fileName, 10), fileName }));
  return files.toSorted((a, b) => a.version - b.version);
}

export interface MigrationStatus {
  /** The version of the newest migration that was run. 0 for an empty database. */
  readonly databaseVersion: number;
  readonly codeVersion: number;
  /** File names of the migrations that still have to run, in order. */
  readonly pending: readonly string[];
  /** Whether a newer release has migrated this database. The database can still be read and written. */
  readonly isDatabaseNewer: boolean;
}

export async function migrationStatus(sql: Sql): Promise<MigrationStatus> {
  const files = await migrationFiles();
  const codeVersion = files.at(-1)?.version ?? 0;
  const [table] = await runQuery(
    sql<{ exists: boolean }[]>`select to_regclass(${MIGRATION_TABLE}) is not null as exists`,
  );
  const rows = table?.exists
    ? await runQuery(sql<{ version: number }[]>`select max(version)::int as version from ${sql(MIGRATION_TABLE)}`)
    : [];
  const databaseVersion = rows[0]?.version ?? 0;
  return {
    databaseVersion,
    codeVersion,
    pending: files.filter((file) => file.version > databaseVersion).map((file) => file.fileName),
    isDatabaseNewer: databaseVersion > codeVersion,
  };
}

/** Whether no migration is pending. A database that is newer than the code counts as migrated. Used by GET /ready. */
export async function migrationsAreApplied(sql: Sql): Promise<boolean> {
  return (await migrationStatus(sql)).pending.length === 0;
}

/**
 * The number of the lock that migrating workers wait for. Any number works, but it must be the same in every release.
 */
const LOCK = 4_507_231;

/**
 * Migrates the database to this release's version, in one transaction. Returns the status afterwards. Workers that
 * start together wait for each other at a lock; the second one finds nothing to do. A newer database is not changed
 * (`isDatabaseNewer`).
 *
 * @throws {AppError} `unavailable` if the database cannot be reached
 * @throws {AppError} `invalid_config` if a migration fails, or an applied migration was edited afterwards
 */
export async function migrate(databaseUrl: string): Promise<MigrationStatus> {
  // There is no answer timeout, because another worker's migrations may take any amount of time.
  const sql = connect(databaseUrl, { maxConnections: 1, applicationName: "parley-migrate", answerTimeoutMs: 0 });
  try {
    await runMigrations(sql);
    return await migrationStatus(sql);
  } catch (error) {
    if (error instanceof AppError || errorKind(error) === "unavailable") throw toStoreError(error);
    throw new AppError("invalid_config", `Migrating the database failed: ${databaseMessage(error)}`, {
      cause: error,
    });
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function runMigrations(sql: Sql): Promise<void> {
  await sql.begin(async (transaction) => {
    try {
      await runPending(transaction);
    } catch (error) {
      // If the connection is lost, postgres.js rejects `begin` by itself. If this callback rejected too, postgres.js
      // would send a rollback on the closed socket, which crashes the process.
      if (!(error instanceof driver.PostgresError) && errorKind(error) === "unavailable") await new Promise(() => {});
      throw error;
    }
  });
}

async function runPending(transaction: postgres.TransactionSql<{ timestamp: number }>): Promise<void> {
  await transaction`select pg_advisory_xact_lock(${LOCK})`;
  const postgrator = new Postgrator({
    driver: "pg",
    schemaTable: MIGRATION_TABLE,
    migrationPattern: `${escapeGlob(MIGRATION_FOLDER)}/*.sql`,
    // Gives a checkout with CRLF line endings the same checksums.
    newline: "LF",
    execQuery: async (query) => ({ rows: await transaction.unsafe(query) }),
  });
  // Skipped if the database is newer than this release, because postgrator would then look for "undo" files.
  if ((await postgrator.getDatabaseVersion()) <= (await postgrator.getMaxVersion())) await postgrator.migrate();
}

function databaseMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function escapeGlob(path: string): string {
  return path.replaceAll(/[?*()[\]{}]/g, "[$&]");
}
