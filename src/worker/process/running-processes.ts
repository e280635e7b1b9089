import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { programEnvironment } from "../../tool/program-environment.ts";

const IS_LINUX = process.platform === "linux";
/** Linux tells times in hundredths of a second, whatever its own clock ticks are. */
const MS_A_TICK = 10;

/**
 * When a process started, in the system's own form, to tell it from a later process with the same id. Undefined when no
 * such process runs; a zombie does not run.
 */
export function processStart(pid: number): string | undefined {
  if (!IS_LINUX) return outputOf("ps", "-o", "lstart=", "-p", String(pid)).trim() || undefined;
  const { 0: state, 19: start } = statOf(pid);
  return state === "Z" || state === "X" ? undefined : start;
}

/** The id of the process group that a process is in; undefined when there is no such process. */
export function processGroup(pid: number): number | undefined {
  const group = IS_LINUX ? statOf(pid)[2] : outputOf("ps", "-o", "pgid=", "-p", String(pid)).trim();
  return group ? Number(group) : undefined;
}

/** The id of the process that started a process, or has taken it over; undefined when there is no such process. */
export function parentOf(pid: number): number | undefined {
  const parent = IS_LINUX ? statOf(pid)[1] : outputOf("ps", "-o", "ppid=", "-p", String(pid)).trim();
  return parent ? Number(parent) : undefined;
}

/** How long a process's first thread, which runs its JavaScript, has computed; 0 where the system does not tell. */
export function mainThreadMs(pid: number): number {
  if (!IS_LINUX) return 0;
  const { 11: inUser = 0, 12: inSystem = 0 } = fieldsOf(`/proc/${pid}/task/${pid}/stat`);
  return (Number(inUser) + Number(inSystem)) * MS_A_TICK;
}

/** How long that thread has waited for a core that others used; 0 where the system does not tell. */
export function mainThreadWaitedMs(pid: number): number {
  const [, waitedNs = "0"] = IS_LINUX ? contentOf(`/proc/${pid}/task/${pid}/schedstat`).split(" ") : [];
  return Number(waitedNs) / 1e6;
}

/** The command line that a running process was started with; empty when there is no such process. */
export function processCommand(pid: number): string {
  if (!IS_LINUX) return outputOf("ps", "-o", "command=", "-p", String(pid));
  return contentOf(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
}

/** Ids of a process's child processes, zombies included. @param parent this process, by default */
export function listChildren(parent = process.pid): number[] {
  if (!IS_LINUX) return outputOf("pgrep", "-P", String(parent)).split("\n").filter(Boolean).map(Number);
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => Number(statOf(pid)[1]) === parent);
}

/** The fields of /proc/<pid>/stat from the state on. The name before them, in parentheses, may hold blanks. */
function statOf(pid: number): readonly string[] {
  return fieldsOf(`/proc/${pid}/stat`);
}

function fieldsOf(path: string): readonly string[] {
  return contentOf(path).split(") ").at(-1)?.split(" ") ?? [];
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function outputOf(command: string, ...args: readonly string[]): string {
  try {
    return execFileSync(command, args, { encoding: "utf8", env: programEnvironment() });
  } catch {
    return "";
  }
}
