import { parentOf, processCommand } from "./running-processes.ts";

const LOOK_EVERY_MS = 500;
/** npm, or a shell that runs a command or a script. A terminal's own shell has neither. */
const NPM_OR_SCRIPT = /^(?:npm |\S*sh (?:-c |[^-]))/u;

/**
 * Calls `onGone` once when the npm that started this process has ended. npm ends at a supervisor's SIGTERM and does not pass it
 * on beyond the shell in which it runs a script, so the program would go on without anybody who could stop it. If an npm
 * script started that npm (`npm run check`), its npm is watched, too. Without npm nothing is watched: a program that `nohup`
 * starts outlives its shell.
 */
export function watchParent(onGone: () => void): void {
  if (process.env["npm_lifecycle_event"] === undefined) return;
  const starters = startersOf(process.ppid);
  const timer = setInterval(() => {
    if (
      process.ppid === starters[0] &&
      starters.slice(0, -1).every((pid, index) => parentOf(pid) === starters[index + 1])
    )
      return;
    clearInterval(timer);
    onGone();
  }, LOOK_EVERY_MS);
  timer.unref();
}

/** Ids of the parent and of the processes above it, up to the first npm. What started that one may end before us. */
function startersOf(parent: number): readonly number[] {
  const pids = [parent];
  let upToNpm = 1;
  for (let pid: number | undefined = parent; pid !== undefined; pid = parentOf(pid)) {
    const command = processCommand(pid);
    if (!NPM_OR_SCRIPT.test(command)) break;
    if (pid !== parent) pids.push(pid);
    if (command.startsWith("npm ")) upToNpm = pids.length;
  }
  return pids.slice(0, upToNpm);
}
