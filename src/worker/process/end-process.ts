import { setTimeout as sleep } from "node:timers/promises";
import { listChildren, processGroup, processStart } from "./running-processes.ts";

interface EndOptions {
  /** The signals to send, one after another, 150 ms apart. SIGKILL follows after `graceMs`. */
  readonly signals: readonly NodeJS.Signals[];
  readonly graceMs: number;
}

/**
 * Ends the process with this id, and its whole process group if it leads one. Resolves when the process is gone. Does
 * nothing if the process is already gone.
 */
export async function endProcess(pid: number, options: EndOptions): Promise<void> {
  const start = processStart(pid);
  if (start === undefined) return;
  const isLeader = processGroup(pid) === pid;
  await endOne(pid, start, options);
  // Some programs, such as initdb, leave a child process behind when they are stopped.
  if (isLeader) await becomes(() => !send(-pid, "SIGKILL"), performance.now() + 500);
}

async function endOne(pid: number, start: string, { signals, graceMs }: EndOptions): Promise<void> {
  const isGone = () => processStart(pid) !== start;
  const deadline = performance.now() + graceMs;
  for (const signal of signals) {
    send(pid, signal);
    if (await becomes(isGone, Math.min(performance.now() + 150, deadline))) return;
  }
  if (await becomes(isGone, deadline)) return;
  send(pid, "SIGKILL");
  await becomes(isGone, performance.now() + 2_000);
}

/** Ends the child processes of this process, except those for which `keep` returns true. */
export async function endChildren(options: { readonly graceMs: number; readonly keep?: (pid: number) => boolean }) {
  const { graceMs, keep = () => false } = options;
  const pids = listChildren().filter((pid) => !keep(pid));
  await Promise.all(pids.map((pid) => endProcess(pid, { signals: ["SIGINT", "SIGTERM"], graceMs })));
}

/** @returns whether the process exists. A negative id means a process group */
function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    // The process has exited.
    return false;
  }
}

async function becomes(condition: () => boolean, deadline: number): Promise<boolean> {
  while (!condition()) {
    if (performance.now() >= deadline) return false;
    await sleep(15);
  }
  return true;
}
