import { spawn, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { endProcess } from "./end-process.ts";
import { readPidFile, removePidFile, writePidFile } from "./pid-file.ts";

interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Remembers the child for `endStaleChild`. */
  readonly pidFile: string;
  /** Gets the child's output; emptied first. */
  readonly logFile: string;
  readonly stopSignals: readonly NodeJS.Signals[];
  readonly spawn?: Pick<SpawnOptions, "uid" | "gid" | "env" | "cwd">;
}

interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A server that runs beside us. It has a process group of its own: Ctrl-C reaches us alone, and we end it in order. */
export interface Child {
  readonly pid: number;
  /** Settles when the process has ended, whoever ended it. */
  readonly ended: Promise<ChildEnd>;
  readonly close: () => Promise<void>;
}

/** @throws {Error} when the command cannot be started at all */
export async function startChild(options: ChildOptions): Promise<Child> {
  await using log = await open(options.logFile, "w");
  const stdio: SpawnOptions["stdio"] = ["ignore", log.fd, log.fd];
  const child = spawn(options.command, options.args, { ...options.spawn, detached: true, stdio });
  const exited = Promise.withResolvers<ChildEnd>();
  child.once("exit", (code, signal) => exited.resolve({ code, signal }));
  await once(child, "spawn");
  const pid = Number(child.pid);
  writePidFile(options.pidFile, pid);
  const ended = exited.promise.finally(() => removePidFile(options.pidFile));
  let closing: Promise<void> | undefined;
  const close = () =>
    (closing ??= endProcess(pid, { signals: options.stopSignals, graceMs: 3_000 }).then(async () => {
      await ended;
    }));
  return { pid, ended, close };
}

/** Ends what an earlier run that was killed has left behind. */
export async function endStaleChild(pidFile: string, stopSignals: readonly NodeJS.Signals[]): Promise<void> {
  const pid = readPidFile(pidFile);
  if (pid !== undefined) await endProcess(pid, { signals: stopSignals, graceMs: 3_000 });
  removePidFile(pidFile);
}
