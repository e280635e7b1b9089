import { parentOf, processCommand } from "./running-processes.ts";

const CHECK_EVERY_MS = 500;
/**
 * Matches the command line of npm, or of a shell that runs a command or a script. A terminal's own shell has no such
 * arguments.
 */
const NPM_OR_SCRIPT = /^(?:npm |\S*sh (?:-c |[^-]))/u;

/**
 * Calls `onGone` once, when the npm that started this process has exited. On a supervisor's SIGTERM, npm exits but
 * signals only the shell that runs its script. Without this function, the program would then keep running with nobody
 * to stop it. If that npm was itself started by an npm script (`npm run check`), the outer npm is watched too. If no
 * npm started this process, nothing is watched, so that a program started with `nohup` outlives its shell.
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
  }, CHECK_EVERY_MS);
  timer.unref();
}

/**
 * Returns the ids of the parent and its ancestors up to the outermost npm. Processes above that npm may exit before
 * this one.
 */
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
