import { existsSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const MEMORY = "/dev/shm";
const NEEDED_BYTES = 2 * 1_024 ** 3;

/**
 * The folder for tests' database files: in memory, if 2 GB are free there. PostgreSQL creates and removes thousands of
 * files, and ext4 is slow to place a new file where many were removed in the last minute.
 */
export function databaseFolder(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize < NEEDED_BYTES ? tmpdir() : MEMORY;
}
