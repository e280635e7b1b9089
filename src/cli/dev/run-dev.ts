import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve, sep } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { siblingModuleUrl } from "../../lib/sibling-module-url.ts";
import type { ToDev } from "../../worker/definitions/definitions.ts";
import { watchParent } from "../../worker/process/watch-parent.ts";
import { watchSources } from "./watch-sources.ts";

const MAIN = fileURLToPath(siblingModuleUrl(import.meta.url, "../../worker/main"));
/**
 * How long to wait after a change before restarting, so that the change is complete: an editor saves in several steps,
 * and a checkout writes many files.
 */
const SETTLE_MS = 200;

/**
 * Runs `parley start`, and restarts it when a source file changes, unless the worker reloads that file itself. Runs
 * until Ctrl-C.
 */
export async function runDev(flags: readonly string[]): Promise<void> {
  const stopping = new AbortController();
  let changed = Promise.withResolvers<string>();
  /** Folders whose files the running worker reloads itself. */
  let reloaded: readonly string[] = [];
  const isReloaded = (file: string) => reloaded.some((folder) => resolve(file).startsWith(folder + sep));
  watchSources(process.cwd(), stopping.signal, (file) => {
    if (!isReloaded(file)) changed.resolve(file);
  });
  const stopped = once(stopping.signal, "abort");
  let child: ChildProcess | undefined;
  onStop((signal) => {
    stopping.abort();
    // In a terminal, Ctrl-C has already reached the child, too. `main` treats two signals within a second as one.
    child?.kill(signal);
  });
  while (!stopping.signal.aborted) {
    changed = Promise.withResolvers();
    child = spawn(process.execPath, [MAIN, ...flags], { stdio: ["inherit", "inherit", "inherit", "ipc"] });
    child.on("message", ({ reloads }: ToDev) => (reloaded = reloads));
    const exited = once(child, "exit").finally(() => (reloaded = []));
    const hasEnded = await Promise.race([exited.then(() => true), changed.promise.then(() => false), stopped]);
    if (hasEnded === true && !stopping.signal.aborted) {
      report("exited, waiting for a change to restart");
      await Promise.race([changed.promise, stopped]);
    }
    if (stopping.signal.aborted) await exited;
    else {
      report(`${await changed.promise} changed, restarting`);
      await sleep(SETTLE_MS);
      child.kill("SIGTERM");
      await exited;
    }
  }
}

/** Calls `stop` whenever this process receives a signal to end, and with SIGTERM when its parent process has ended. */
function onStop(stop: (signal: NodeJS.Signals) => void): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop(signal));
  watchParent(() => stop("SIGTERM"));
}

function report(line: string): void {
  process.stderr.write(`parley dev: ${line}\n`);
}
