import { spawn, type ChildProcess } from "node:child_process";

/**
 * Its first line names whom to kill when its input ends. The system ends that for a process that was killed as well, which
 * could not clean up itself.
 */
const WATCH = 'read -r whom && { read -r _; kill -s KILL -- "$whom"; }';

/**
 * Kills a process, or a whole process group, when this process ends, however it ends. It is a shell in a group of its own,
 * which no signal to that group and no Ctrl-C reaches: there is no parent-death signal outside of Linux, and there it can
 * come too late. Make one before the process is started, so that no moment is left between the two.
 */
export class KillWithUs {
  readonly #watcher: ChildProcess;

  constructor() {
    this.#watcher = spawn("/bin/sh", ["-c", WATCH], { stdio: ["pipe", "ignore", "ignore"], detached: true, env: {} });
    // Without a shell nothing watches; the process is run all the same.
    this.#watcher.on("error", () => {});
    this.#watcher.stdin?.on("error", () => {});
  }

  /** @param pid undefined when the process could not be started */
  watch(pid: number | undefined, what: "process" | "group"): void {
    if (pid === undefined) this.end();
    else this.#watcher.stdin?.write(`${what === "group" ? -pid : pid}\n`);
  }

  /** The process has ended: its id may soon be another's. */
  end(): void {
    this.#watcher.kill("SIGKILL");
  }
}
