import { setTimeout as sleep } from "node:timers/promises";
import { listChildren, processStart } from "./running-processes.ts";

interface EndOptions {
  /** Sent one after another, 150 ms apart; SIGKILL follows after `graceMs`. */
  readonly signals: readonly NodeJS.Signals[];
  readonly graceMs: number;
}

/** Ends this process, and never a later one with its id. Returns when it is gone, or 2 s after SIGKILL. */
export async function endProcess(pid: number, { signals, graceMs }: EndOptions): Promise<void> {
  const start = processStart(pid);
  if (start === undefined) return;
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

/** Ends all child processes of this process except those that `keep` says. */
export async function endChildren(options: { readonly graceMs: number; readonly keep?: (pid: number) => boolean }) {
  const { graceMs, keep = () => false } = options;
  const pids = listChildren().filter((pid) => !keep(pid));
  await Promise.all(pids.map((pid) => endProcess(pid, { signals: ["SIGINT", "SIGTERM"], graceMs })));
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has just ended.
  }
}

async function becomes(condition: () => boolean, deadline: number): Promise<boolean> {
  while (!condition()) {
    if (performance.now() >= deadline) return false;
    await sleep(15);
  }
  return true;
}
