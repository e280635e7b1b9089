import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { processStart } from "./running-processes.ts";

/** Remembers a running process, so that a later start can tell whether it still runs. */
export function writePidFile(path: string, pid: number): void {
  writeFileSync(path, `${pid} ${processStart(pid) ?? ""}\n`);
}

/** The process that the file names, if that very process (not a later one with its id) still runs. */
export function readPidFile(path: string): number | undefined {
  try {
    const [pid = "", start] = readFileSync(path, "utf8").trim().split(/ (.*)/);
    return start !== undefined && start !== "" && processStart(Number(pid)) === start ? Number(pid) : undefined;
  } catch {
    return undefined;
  }
}

/** Takes the file as a lock of this process: false when a running process holds it. */
export function tryPidFile(path: string): boolean {
  const own = `${path}.${process.pid}`;
  writePidFile(own, process.pid);
  try {
    // A link appears whole or not at all, and only one process can make it.
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
