import { spawn, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { open, readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../../errors/app-error.ts";
import { programEnvironment } from "../../tool/program-environment.ts";
import { endProcess } from "./end-process.ts";
import { readPidFile, removePidFile, writePidFile } from "./pid-file.ts";

/**
 * The user, folder and environment with which a program runs. @defaultValue this process's user and folder, and
 * `programEnvironment`
 */
type Place = Pick<SpawnOptions, "uid" | "gid" | "env" | "cwd">;

interface ServerOptions {
  /** The server's name in errors. */
  readonly name: string;
  readonly port: number;
  readonly command: string;
  readonly args: readonly string[];
  /** The file to which the process id is written, for `endStaleServer`. */
  readonly pidFile: string;
  /** Receives the server's output. An existing file is overwritten. */
  readonly logFile: string;
  readonly stopSignals: readonly NodeJS.Signals[];
  readonly place?: Place;
  /** Called repeatedly until it resolves to true. */
  readonly isReady: (pid: number) => Promise<boolean>;
  readonly readyWithinMs: number;
}

/** A server in its own process group, so that Ctrl-C does not reach it and only `close` stops it. */
export interface RunningServer {
  readonly pid: number;
  /** Resolves when the process has exited, for any reason. */
  readonly ended: Promise<unknown>;
  /** May be called more than once. */
  readonly close: () => Promise<void>;
}

/**
 * Starts a server and resolves when it is ready.
 *
 * @throws {AppError} `unavailable` with the last lines of the log, if the server exits before it is ready or takes too
 *   long
 * @throws {Error} if the command cannot be started at all
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { name, port, command, args, pidFile, logFile, stopSignals } = options;
  await using log = await open(logFile, "w");
  const child = spawn(command, args, {
    env: programEnvironment(),
    ...options.place,
    detached: true,
    stdio: ["ignore", log.fd, log.fd],
  });
  const exited = Promise.withResolvers<void>();
  child.once("exit", () => exited.resolve());
  await once(child, "spawn");
  const pid = Number(child.pid);
  writePidFile(pidFile, pid);
  const ended = exited.promise.finally(() => removePidFile(pidFile));
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= endServer(pid, stopSignals).then(() => ended));
  try {
    await untilReady(options, pid, ended);
  } catch (error) {
    await close();
    const output = (await readFile(logFile, "utf8").catch(() => "")).trim().split("\n").slice(-4).join("\n");
    throw new AppError("unavailable", `${name} did not start on port ${port} (${logFile}):\n${output}`, {
      cause: error,
    });
  }
  return { pid, ended, close };
}

/** Stops the server that an earlier run left running. */
export async function endStaleServer(pidFile: string, stopSignals: readonly NodeJS.Signals[]): Promise<void> {
  const pid = readPidFile(pidFile);
  if (pid !== undefined) await endServer(pid, stopSignals);
  removePidFile(pidFile);
}

async function endServer(pid: number, signals: readonly NodeJS.Signals[]): Promise<void> {
  await endProcess(pid, { signals, graceMs: 3_000 });
}

/** Runs a command until it exits and returns its stdout. @throws {Error} with the output if the command fails */
export async function runCommand(
  command: string,
  args: readonly string[],
  { input = "", ...place }: Place & { readonly input?: string } = {},
): Promise<string> {
  const child = spawn(command, args, { env: programEnvironment(), ...place, detached: true, stdio: "pipe" });
  const closed = once(child, "close");
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const [[code], output, errors] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
  if (code !== 0) throw new Error(`${command} exited with code ${code}: ${(errors || output).trim()}`);
  return output;
}

async function untilReady(
  { isReady, readyWithinMs }: ServerOptions,
  pid: number,
  ended: Promise<unknown>,
): Promise<void> {
  const late = AbortSignal.timeout(readyWithinMs);
  let hasEnded = false;
  void ended.then(() => (hasEnded = true));
  while (!(await isReady(pid)) || hasEnded) {
    if (hasEnded) throw new Error("it ended");
    late.throwIfAborted();
    await sleep(20);
  }
}
