import { listChildren, processStart } from "../../../src/worker/process/running-processes.ts";
import { watchParent } from "../../../src/worker/process/watch-parent.ts";

/** How long processes may take to end before they are killed. Removing containers takes some seconds. */
const GRACE_MS = 15_000;
const CHECK_EVERY_MS = 50;

/**
 * Ends all descendants of this process, the main process of a test run, when it exits. Also makes it exit on signals,
 * after which Vitest would clean nothing up, and when the npm that started it exits: npm does not pass on a SIGTERM
 * from a supervisor.
 */
export function endWithRun(): void {
  watchParent(() => process.exit(143));
  // Not `once`: a second signal would end this process before it has ended the others.
  process.on("SIGHUP", () => process.exit(129));
  process.on("SIGINT", () => process.exit(130));
  process.on("SIGTERM", () => process.exit(143));
  process.once("exit", endDescendants);
}

/** Waits for the descendants by blocking this process, because an exit handler cannot await anything. */
function endDescendants(): void {
  const pids = listDescendants(process.pid);
  const running = () => pids.filter((pid) => processStart(pid) !== undefined);
  signal(pids, "SIGTERM");
  const killAt = performance.now() + GRACE_MS;
  while (running().length > 0 && performance.now() < killAt) sleepFor(CHECK_EVERY_MS);
  signal(running(), "SIGKILL");
}

function listDescendants(parent: number): readonly number[] {
  return listChildren(parent).flatMap((pid) => [pid, ...listDescendants(pid)]);
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // The process has ended.
    }
  }
}

function sleepFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
