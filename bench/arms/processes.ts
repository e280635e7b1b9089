import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Linux counts CPU time in hundredths of a second. */
const MS_PER_TICK = 10;
const END_MS = 6_000;

interface ProcessInfo {
  readonly parent: number;
  readonly cpuMs: number;
}

/** Returns the CPU time of a process and all its descendants, in all threads, by process id. */
export function cpuOfTree(pid: number): ReadonlyMap<number, number> {
  const all = listProcesses();
  return new Map(treeOf(pid, all).map((each) => [each, all.get(each)?.cpuMs ?? 0]));
}

/**
 * Terminates a process and all its descendants, and kills those that do not exit in time. Resolves once all of them
 * have exited.
 */
export async function endTree(pid: number): Promise<void> {
  const until = performance.now() + END_MS;
  let left = treeOf(pid, listProcesses());
  signal(pid, "SIGTERM");
  while (left.length > 0) {
    if (performance.now() > until) for (const each of left) signal(each, "SIGKILL");
    await sleep(50);
    const all = listProcesses();
    // Includes processes started in the meantime.
    left = [...new Set(left.flatMap((each) => treeOf(each, all)))];
  }
}

function treeOf(pid: number, all: ReadonlyMap<number, ProcessInfo>): number[] {
  const children = [...all].filter(([, { parent }]) => parent === pid).map(([child]) => child);
  return all.has(pid) ? [pid, ...children.flatMap((child) => treeOf(child, all))] : [];
}

function listProcesses(): ReadonlyMap<number, ProcessInfo> {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return new Map(
    pids.flatMap((pid) => {
      // The process's name comes before these fields, in parentheses. It may contain spaces.
      const fields = contentOf(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? [];
      const { 0: state, 1: parent, 11: inUser, 12: inSystem } = fields;
      if (state === undefined || state === "Z") return [];
      return [[Number(pid), { parent: Number(parent), cpuMs: (Number(inUser) + Number(inSystem)) * MS_PER_TICK }]];
    }),
  );
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has exited.
  }
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
