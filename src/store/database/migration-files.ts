import { readdir } from "node:fs/promises";
import { join } from "node:path";

export const MIGRATION_FOLDER = join(import.meta.dirname, "migrations");
/** postgrator's own table: version, name, MD5 of the file and when it ran. */
export const MIGRATION_TABLE = "parley_migrations";

export interface MigrationFile {
  /** `001.do.record.sql` is version 1. */
  readonly version: number;
  readonly fileName: string;
}

/** The migrations that this code brings, oldest first. */
export async function migrationFiles(): Promise<MigrationFile[]> {
  const fileNames = (await readdir(MIGRATION_FOLDER)).filter((fileName) => /^\d+\.do\..+\.sql$/.test(fileName));
  const files = fileNames.map((fileName) => ({ version: Number.parseInt(fileName, 10), fileName }));
  return files.toSorted((a, b) => a.version - b.version);
}
