import { existsSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const MEMORY = "/dev/shm";
const NEEDED_BYTES = 2 * 1_024 ** 3;

/**
 * Where tests put the files of databases: in memory, where there is enough. PostgreSQL makes and removes thousands, and
 * ext4 takes long to find a place for a new one where many were removed in the last minute.
 */
export function databaseFolder(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize < NEEDED_BYTES ? tmpdir() : MEMORY;
}
