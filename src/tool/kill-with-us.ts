import { spawn, type ChildProcess } from "node:child_process";

/**
 * The first line of input is the group to kill when the input ends. The system ends the input also for a worker that
 * was killed and could not clean up.
 */
const WATCH = 'read -r whom && { read -r _; kill -s KILL -- "$whom"; }';

/**
 * Kills a process that leads a group, and the group with it, when this process ends, however it ends. A shell does it, in
 * a group of its own, which no signal to that group and no Ctrl-C reaches: a parent-death signal exists only on Linux, and
 * may come too late there. Make one before the process is started, so that no moment is left between the two.
 */
export class KillWithUs {
  readonly #watcher: ChildProcess;

  constructor() {
    this.#watcher = spawn("/bin/sh", ["-c", WATCH], { stdio: ["pipe", "ignore", "ignore"], detached: true, env: {} });
    // Without a shell nothing watches, and the process runs all the same.
    this.#watcher.on("error", () => {});
    this.#watcher.stdin?.on("error", () => {});
  }

  /** @param leader undefined when the process could not be started */
  watch(leader: number | undefined): void {
    if (leader === undefined) this.end();
    else this.#watcher.stdin?.write(`${-leader}\n`);
  }

  /** Stops watching. Call it when the process has ended, for its id may soon belong to another. */
  end(): void {
    this.#watcher.kill("SIGKILL");
  }
}

/** Sends a signal to a process and all that it has started. Does nothing when they have ended. */
export function killGroup(leader: number | undefined, signal: NodeJS.Signals): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, signal);
  } catch {
    // They have ended.
  }
}
