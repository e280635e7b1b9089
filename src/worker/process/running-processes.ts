import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { programEnvironment } from "../../tool/program-environment.ts";

const IS_LINUX = process.platform === "linux";
/** Linux reports times in hundredths of a second, regardless of its own clock ticks. */
const MS_A_TICK = 10;

/**
 * Returns a process's start time, in the system's own format. The start time distinguishes the process from a later one
 * with the same id. `undefined` if no such process is running; a zombie does not count as running.
 */
export function processStart(pid: number): string | undefined {
  if (!IS_LINUX) return outputOf("ps", "-o", "lstart=", "-p", String(pid)).trim() || undefined;
  const { 0: state, 19: start } = statOf(pid);
  return state === "Z" || state === "X" ? undefined : start;
}

/** Returns the id of a process's group, or `undefined` if there is no such process. */
export function processGroup(pid: number): number | undefined {
  const group = IS_LINUX ? statOf(pid)[2] : outputOf("ps", "-o", "pgid=", "-p", String(pid)).trim();
  return group ? Number(group) : undefined;
}

/** Returns the id of a process's current parent, or `undefined` if there is no such process. */
export function parentOf(pid: number): number | undefined {
  const parent = IS_LINUX ? statOf(pid)[1] : outputOf("ps", "-o", "ppid=", "-p", String(pid)).trim();
  return parent ? Number(parent) : undefined;
}

/**
 * Returns the CPU time, in ms, of a process's main thread, which runs its JavaScript; 0 if the system does not report
 * it.
 */
export function mainThreadMs(pid: number): number {
  if (!IS_LINUX) return 0;
  const { 11: inUser = 0, 12: inSystem = 0 } = fieldsOf(`/proc/${pid}/task/${pid}/stat`);
  return (Number(inUser) + Number(inSystem)) * MS_A_TICK;
}

/** Returns how long the main thread has waited for a busy core, in ms; 0 if the system does not report it. */
export function mainThreadWaitedMs(pid: number): number {
  const [, waitedNs = "0"] = IS_LINUX ? contentOf(`/proc/${pid}/task/${pid}/schedstat`).split(" ") : [];
  return Number(waitedNs) / 1e6;
}

/** Returns the command line of a running process, or an empty string if there is no such process. */
export function processCommand(pid: number): string {
  if (!IS_LINUX) return outputOf("ps", "-o", "command=", "-p", String(pid));
  return contentOf(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
}

/** Returns the ids of a process's child processes, including zombies. @param parent this process by default */
export function listChildren(parent = process.pid): number[] {
  if (!IS_LINUX) return outputOf("pgrep", "-P", String(parent)).split("\n").filter(Boolean).map(Number);
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => Number(statOf(pid)[1]) === parent);
}

/**
 * Returns the fields of /proc/<pid>/stat, starting with the state. The process name before the state is skipped. It is
 * in parentheses and may contain spaces.
 */
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
