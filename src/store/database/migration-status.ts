import { migrationFiles, MIGRATION_TABLE } from "./migration-files.ts";
import { type Sql } from "./pool.ts";
import { runQuery } from "./store-error.ts";

export interface MigrationStatus {
  /** 0 is an empty database. */
  readonly databaseVersion: number;
  readonly codeVersion: number;
  /** File names of what is still to run, in order. */
  readonly pending: readonly string[];
  /** A newer release has migrated this database: it can be read and written, but say so. */
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
