import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

const IS_LINUX = process.platform === "linux";

/**
 * What tells a process apart from a later one with the same id: when it started, as the system says it. Undefined when
 * no such process runs; one that has ended but was not waited for (a zombie) does not run.
 */
export function processStart(pid: number): string | undefined {
  if (!IS_LINUX) return outputOf("ps", "-o", "lstart=", "-p", String(pid)).trim() || undefined;
  const { 0: state, 19: start } = statOf(pid);
  return state === "Z" || state === "X" ? undefined : start;
}

/** The command line that a running process was started with; empty when there is no such process. */
export function processCommand(pid: number): string {
  if (!IS_LINUX) return outputOf("ps", "-o", "command=", "-p", String(pid));
  return contentOf(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
}

/** Ids of the processes that this one has started and that have not ended. */
export function listChildren(): number[] {
  if (!IS_LINUX) return outputOf("pgrep", "-P", String(process.pid)).split("\n").filter(Boolean).map(Number);
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => Number(statOf(pid)[1]) === process.pid);
}

/** What Linux says of a process, from its state on. The name before that, in parentheses, may hold blanks. */
function statOf(pid: number): readonly string[] {
  return contentOf(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? [];
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
    return execFileSync(command, args, { encoding: "utf8" });
  } catch {
    return "";
  }
}
