import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { killGroup, ProcessGroupReaper } from "../../src/tool/process-group-reaper.ts";
import { CommandOutput } from "./_output.ts";

/** The only environment variables that a command inherits from the worker. None of them contains keys or addresses. */
const INHERITED = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ"];
/** How long a command has from SIGTERM to SIGKILL. */
const GRACE_MS = 2_000;
/** How long output is read after the command has exited. */
const DRAIN_MS = 500;
/** The maximum size of a command's output. A command that writes more is stopped. */
const MAX_OUTPUT_BYTES = 10_000_000;

export interface Command {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** In addition to the inherited variables. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly onLine: (line: string) => void;
}

export interface CommandResult {
  readonly exitCode: number | null;
  /** The signal or limit that ended the command, or `null` if it exited by itself. */
  readonly endedBy: string | null;
  /** Both streams in the order of arrival. The middle of a long output is omitted. */
  readonly output: string;
  readonly truncated: boolean;
}

/**
 * Runs a command. Unless `env` sets `HOME`, the command gets a separate, empty home folder: programs read their
 * configuration from the home folder, so tools that write files must not be able to write there.
 */
export async function runCommand(command: Command): Promise<CommandResult> {
  command.signal.throwIfAborted();
  if (command.env["HOME"] !== undefined) return runInGroup(command);
  const home = await mkdtemp(join(tmpdir(), "parley-home-"));
  try {
    return await runInGroup({ ...command, env: { ...command.env, HOME: home } });
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/**
 * Runs a command in its own process group, and ends the whole group. If the signal aborts or the output is too long,
 * the group gets SIGTERM and then SIGKILL. Once the command or this process has exited for any reason, the group gets
 * SIGKILL. An abort rejects with the signal's reason.
 */
async function runInGroup({ argv, cwd, env, signal, onLine }: Command): Promise<CommandResult> {
  signal.throwIfAborted();
  const [program = "", ...args] = argv;
  const inherited = Object.fromEntries(
    INHERITED.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
  const reaper = new ProcessGroupReaper();
  const child = spawn(program, args, {
    cwd,
    env: { ...inherited, TERM: "dumb", ...env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  reaper.watch(child.pid);
  const output = new CommandOutput();
  const ended = Promise.withResolvers<CommandResult>();
  let isTooMuch = false;
  const stop = () => {
    killGroup(child.pid, "SIGTERM");
    setTimeout(() => child.exitCode ?? child.signalCode ?? killGroup(child.pid, "SIGKILL"), GRACE_MS).unref();
  };
  const onData = (bytes: Buffer) => {
    output.add(bytes);
    if (isTooMuch || output.sizeBytes <= MAX_OUTPUT_BYTES) return;
    isTooMuch = true;
    stop();
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", onData);
    createInterface({ input: stream, crlfDelay: Infinity }).on("line", (line) => !isTooMuch && onLine(line));
  }
  child.once("error", (error) => ended.reject(new Error("The command could not be started", { cause: error })));
  child.once("exit", () => {
    killGroup(child.pid, "SIGKILL");
    reaper.end();
    // A process that has left the group may still keep the streams open.
    setTimeout(() => [child.stdout, child.stderr].forEach((stream) => stream.destroy()), DRAIN_MS).unref();
  });
  child.once("close", (exitCode, signalName) => {
    const endedBy = isTooMuch ? `more than ${MAX_OUTPUT_BYTES} bytes of output` : signalName;
    ended.resolve({ exitCode, endedBy, output: output.text, truncated: output.isTruncated });
  });
  signal.addEventListener("abort", stop, { once: true });
  try {
    const result = await ended.promise;
    signal.throwIfAborted();
    return result;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
