import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { withoutPassword, withPassword } from "../../../src/worker/settings/database-url.ts";
import { findFreePorts } from "../../support/servers/free-ports.ts";

const ROOT = join(import.meta.dirname, "../../..");
const { PATH, NODE_COMPILE_CACHE } = process.env;
/**
 * The variables that every worker gets. STT and TTS are set, because otherwise each worker would load the embedded
 * models.
 */
const OF_OURS = { PATH, NODE_COMPILE_CACHE, PARLEY_CACHE_DIR: join(ROOT, ".cache"), STT: "none", TTS: "espeak" };

export interface RunningMain {
  readonly pid: number;
  /** The ready line. Rejects if the process exits without one. */
  readonly ready: Promise<Readonly<Record<string, string>>>;
  /** The address of the PostgreSQL that the worker has started, with the password. */
  readonly databaseUrl: Promise<string>;
  /** Resolves once the process has exited. */
  readonly exited: Promise<unknown>;
  /**
   * Resolves once every process that could write to the output has exited. Job processes exit up to 15 s after a main
   * process that was killed with SIGKILL.
   */
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
  readonly kill: (signal: NodeJS.Signals) => void;
}

/** Variables with free ports for one worker. LIVEKIT_PORT is the first of livekit-server's three. */
export async function freePortVariables(): Promise<NodeJS.ProcessEnv> {
  const first = await findFreePorts(6);
  return {
    HTTP_PORT: String(first),
    WORKER_PORT: String(first + 1),
    GRPC_PORT: String(first + 2),
    LIVEKIT_PORT: String(first + 3),
  };
}

interface Parts {
  readonly livekit: { readonly url: string; readonly apiKey: string; readonly apiSecret: string };
  readonly databaseUrl: string;
  readonly modelUrl: string;
  /** The folder in which the worker's data folder is created. */
  readonly folder: string;
}

/**
 * The environment for a worker on free ports that starts no services itself. The database's password is in PGPASSWORD,
 * not in the address.
 */
export async function settingsFor({ livekit, databaseUrl, modelUrl, folder }: Parts): Promise<NodeJS.ProcessEnv> {
  return {
    ...(await freePortVariables()),
    PARLEY_DATA_DIR: join(folder, "data"),
    LIVEKIT_URL: livekit.url,
    LIVEKIT_API_KEY: livekit.apiKey,
    LIVEKIT_API_SECRET: livekit.apiSecret,
    DATABASE_URL: withoutPassword(databaseUrl),
    PGPASSWORD: decodeURIComponent(new URL(databaseUrl).password),
    ANTHROPIC_API_KEY: "test",
    ANTHROPIC_BASE_URL: modelUrl,
    STT: "none",
    // With a voice, an answer would wait until a participant has subscribed to the agent's track.
    TTS: "none",
  };
}

/** Starts `npm start -- --json` as a separate process, with `env` and only a few of our own variables. */
export function runMain(env: NodeJS.ProcessEnv, ...args: readonly string[]): RunningMain {
  return runMainOf(ROOT, env, args);
}

/** Does the same as `runMain`, in another clone of the repository. */
export function runMainOf(clone: string, env: NodeJS.ProcessEnv, args: readonly string[] = []): RunningMain {
  const child = spawn(process.execPath, [join(clone, "src/worker/main.ts"), "--json", ...args], {
    cwd: clone,
    env: { ...OF_OURS, LOG_LEVEL: "warn", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ready = Promise.withResolvers<Readonly<Record<string, string>>>();
  child.stdout.on("data", (chunk: Buffer) => ready.resolve(JSON.parse(chunk.toString()) as Record<string, string>));
  const outputs = Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  const exited = once(child, "exit");
  const ended = outputs.then(([stdout, stderr, [code]]) => ({ code: code as number | null, stdout, stderr }));
  void ended.then(({ stderr }) => ready.reject(new Error(`It ended before it was ready:\n${stderr}`)));
  ready.promise.catch(() => {});
  const databaseUrl = ready.promise.then(async (line) => {
    const dataDir = resolve(clone, env["PARLEY_DATA_DIR"] ?? ".data");
    const password = await readFile(join(dataDir, "postgres-password"), "utf8");
    return withPassword(line["databaseUrl"] ?? "", { name: "databaseUrl", password: password.trim() });
  });
  databaseUrl.catch(() => {});
  return {
    databaseUrl,
    pid: Number(child.pid),
    ready: ready.promise,
    exited,
    ended,
    kill: (signal) => child.kill(signal),
  };
}

/** The running processes whose command line or working folder contains this path, each as one line. */
export function processesIn(folder: string): string[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => `${commandLine(pid)} ${workingFolder(pid)}`).filter((line) => line.includes(folder));
}

function workingFolder(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return "";
  }
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

/** The processes whose command lines contain a text. */
export function pidsNaming(part: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => commandLine(pid).includes(part)).map(Number);
}

/** A worker's job processes. */
export function jobProcesses(mainPid: number): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids
    .filter((pid) => parentOf(pid) === mainPid && /job_proc_lazy_main|host-main/u.test(commandLine(pid)))
    .map(Number);
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(/PPid:\t(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}
