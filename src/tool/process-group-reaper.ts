import { spawn, type ChildProcess } from "node:child_process";

/**
 * A shell script that reads the id of a process group from its input, and kills that group when the input ends. The
 * system also ends the input if the worker was killed and could not clean up.
 */
const WATCH = 'read -r whom && { read -r _; kill -s KILL -- "$whom"; }';

/**
 * Kills a process group when this process ends, for any reason. A shell does this from its own process group, so that
 * neither Ctrl-C nor signals to the watched group reach the shell. A parent-death signal would not be enough: it exists
 * only on Linux, and may arrive too late there. Create an instance before the process is started, so that the process
 * is watched from the beginning.
 */
export class ProcessGroupReaper {
  readonly #watcher: ChildProcess;

  constructor() {
    this.#watcher = spawn("/bin/sh", ["-c", WATCH], { stdio: ["pipe", "ignore", "ignore"], detached: true, env: {} });
    // If there is no shell, nothing watches the process, but the process still runs.
    this.#watcher.on("error", () => {});
    this.#watcher.stdin?.on("error", () => {});
  }

  /**
   * Starts watching a process group.
   *
   * @param leader the process that leads the group; `undefined` if it could not be started
   */
  watch(leader: number | undefined): void {
    if (leader === undefined) this.end();
    else this.#watcher.stdin?.write(`${-leader}\n`);
  }

  /** Stops watching. Call it when the process has ended, because its id may soon be reused. */
  end(): void {
    this.#watcher.kill("SIGKILL");
  }
}

/** Sends a signal to a process and everything it has started. Does nothing if they have ended. */
export function killGroup(leader: number | undefined, signal: NodeJS.Signals): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, signal);
  } catch {
    // The processes have ended.
  }
}
