import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../errors/app-error.ts";
import { processStart } from "./running-processes.ts";

/** Writes a process's id and start time, so that a later start can tell whether that process is still running. */
export function writePidFile(path: string, pid: number): void {
  writeFileSync(path, `${pid} ${processStart(pid) ?? ""}\n`);
}

/**
 * Returns the process id in the file if that process is still running. A later process with the same id does not count.
 */
export function readPidFile(path: string): number | undefined {
  try {
    const [pid = "", start] = readFileSync(path, "utf8").trim().split(/ (.*)/);
    return start !== undefined && start !== "" && processStart(Number(pid)) === start ? Number(pid) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Tries to acquire the file as a lock. Returns false if a running process holds the lock. If a dead process holds it,
 * removes the lock and also returns false, so call this again.
 */
export function tryPidFile(path: string): boolean {
  const own = `${path}.${process.pid}`;
  writePidFile(own, process.pid);
  try {
    // `link` is atomic, and only one process can succeed.
    linkSync(own, path);
    return true;
  } catch {
    if (readPidFile(path) !== undefined) return false;
    removePidFile(path);
    return false;
  } finally {
    removePidFile(own);
  }
}

export function removePidFile(path: string): void {
  rmSync(path, { force: true });
}

/**
 * Locks the data folder for this process. Two processes that share a folder would stop each other's servers.
 *
 * @throws {AppError} `invalid_config` if another running process holds the lock
 */
export async function lockDataFolder(dataDir: string): Promise<{ release: () => void }> {
  await mkdir(dataDir, { recursive: true });
  const lock = join(dataDir, "parley.pid");
  // Tried twice, because the first try may only remove the lock of a killed process.
  if (!tryPidFile(lock) && !tryPidFile(lock)) {
    throw new AppError(
      "invalid_config",
      `PARLEY_DATA_DIR: ${dataDir} is in use by another Parley (process ${readPidFile(lock)}). Stop that process, or choose another folder and other ports`,
    );
  }
  return { release: () => removePidFile(lock) };
}
