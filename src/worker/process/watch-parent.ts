import { parentOf, processCommand } from "./running-processes.ts";

const LOOK_EVERY_MS = 500;

/**
 * Calls `onGone` once when the npm that started this process has ended. npm ends at a supervisor's SIGTERM and does not pass it
 * on beyond the shell in which it runs a script, so the program would go on without anybody who could stop it. Without npm
 * nothing is watched: a program that `nohup` starts outlives its shell.
 */
export function watchParent(onGone: () => void): void {
  if (process.env["npm_lifecycle_event"] === undefined) return;
  const parent = process.ppid;
  // `sh -c` stays between npm and us, unless the shell has put us in its own place.
  const isShell = /^\S*sh -c /u.test(processCommand(parent));
  const grandparent = isShell ? parentOf(parent) : undefined;
  const timer = setInterval(() => {
    if (process.ppid === parent && (!isShell || parentOf(parent) === grandparent)) return;
    clearInterval(timer);
    onGone();
  }, LOOK_EVERY_MS);
  timer.unref();
}
