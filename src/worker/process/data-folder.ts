import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../errors/app-error.ts";
import { readPidFile, removePidFile, tryPidFile } from "./pid-file.ts";

/**
 * Takes the data folder for this process: two that share it would end each other's servers.
 *
 * @throws {AppError} `invalid_config` when another running process has it
 */
export async function lockDataFolder(dataDir: string): Promise<{ release: () => void }> {
  await mkdir(dataDir, { recursive: true });
  const lock = join(dataDir, "parley.pid");
  // The first try clears away the lock of a process that was killed.
  if (!tryPidFile(lock) && !tryPidFile(lock)) {
    throw new AppError(
      "invalid_config",
      `PARLEY_DATA_DIR: expected a folder that no running Parley uses, got ${dataDir} (used by process ${readPidFile(lock)}); stop that one, or give this one another folder and other ports`,
    );
  }
  return { release: () => removePidFile(lock) };
}
