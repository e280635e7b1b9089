import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type postgres from "postgres";
import Postgrator from "postgrator";
import { AppError } from "../../errors/app-error.ts";
import { driver } from "./driver.ts";
import { type Sql, connect } from "./pool.ts";
import { errorKind, runQuery, toStoreError } from "./store-error.ts";

export const MIGRATION_FOLDER = join(import.meta.dirname, "migrations");
/** postgrator's own table: each migration's version, name, MD5 and time. */
const MIGRATION_TABLE = "parley_migrations";

interface MigrationFile {
  /** 1 for `001.do.record.sql`. */
  readonly version: number;
  readonly fileName: string;
}

/** The migrations of this release, oldest first. */
export async function migrationFiles(): Promise<MigrationFile[]> {
  const fileNames = (await readdir(MIGRATION_FOLDER)).filter((fileName) => /^\d+\.do\..+\.sql$/.test(fileName));
  const files = fileNames.map((fileName) => ({ version: Number.parseInt(fileName, 10), fileName }));
  return files.toSorted((a, b) => a.version - b.version);
}

export interface MigrationStatus {
  /** 0 for an empty database. */
  readonly databaseVersion: number;
  readonly codeVersion: number;
  /** File names of the migrations that are still to run, in order. */
  readonly pending: readonly string[];
  /** Whether a newer release has migrated this database. It can be read and written all the same. */
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

/** For GET /ready: a database that is newer than the code counts as migrated. */
export async function migrationsAreApplied(sql: Sql): Promise<boolean> {
  return (await migrationStatus(sql)).pending.length === 0;
}

/** The number of the lock at which migrating workers queue. Any number will do, if it is the same in every release. */
const LOCK = 4_507_231;

/**
 * Brings the database up to this release's version, in one transaction. Returns the status afterwards. Workers that
 * start together queue at a lock; the second finds nothing to do. A newer database stays as it is (`isDatabaseNewer`).
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
    throw new AppError("invalid_config", `The database cannot be migrated: ${databaseMessage(error)}`, {
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
      // On a lost connection postgres.js rejects by itself. If this rejected too, it would send a rollback on the
      // socket that is gone, which ends the process.
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
    // With this, a checkout with CRLF endings has the same checksums.
    newline: "LF",
    execQuery: async (query) => ({ rows: await transaction.unsafe(query) }),
  });
  // Not on a newer database, for which postgrator would run "undo" files.
  if ((await postgrator.getDatabaseVersion()) <= (await postgrator.getMaxVersion())) await postgrator.migrate();
}

function databaseMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function escapeGlob(path: string): string {
  return path.replaceAll(/[?*()[\]{}]/g, "[$&]");
}
