import { randomBytes } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../errors/app-error.ts";
import { endStaleServer, startServer, type RunningServer } from "../process/start-program.ts";
import { endProcess } from "../process/end-process.ts";
import { probeTcpPort } from "../process/ports.ts";
import { processCommand, processStart } from "../process/running-processes.ts";
import { DATABASE, ensureCluster, placeOf, SUPERUSER, WORKING_FOLDER } from "./postgres-cluster.ts";
import { providePrograms } from "./postgres-programs.ts";
import { choosePostgresUser } from "./postgres-user.ts";
import { readOrCreateSecret } from "./secret-file.ts";
import type { ReportProgress } from "./service.ts";

interface PostgresOptions {
  readonly dataDir: string;
  /** 0 means the port of the previous start if that port is free, otherwise any free port. */
  readonly port: number;
  readonly progress: ReportProgress;
}

export interface PostgresService extends RunningServer {
  /** Contains the superuser's password. */
  readonly url: string;
}

/** Requests PostgreSQL's fast shutdown, which rolls back open transactions and writes all data. */
const STOP_SIGNALS = ["SIGINT"] as const;
const pathsOf = (dataDir: string) => ({
  cluster: join(dataDir, "postgres"),
  pidFile: join(dataDir, "postgres.pid"),
  portFile: join(dataDir, "postgres-port"),
  passwordFile: join(dataDir, "postgres-password"),
  logFile: join(dataDir, "postgres.log"),
});

/** Stops the PostgreSQL server that an earlier run left running for this data folder. */
export async function endStalePostgres(dataDir: string): Promise<void> {
  const { cluster, pidFile } = pathsOf(dataDir);
  await endStaleServer(pidFile, STOP_SIGNALS);
  const lockFile = join(cluster, "postmaster.pid");
  const pid = Number.parseInt(await readFile(lockFile, "utf8").catch(() => ""), 10);
  if (Number.isNaN(pid) || processStart(pid) === undefined) return;
  // PostgreSQL's own lock file contains its server's process id, which may now belong to another process. In that case,
  // PostgreSQL does not start until the lock file is removed.
  if (processCommand(pid).includes(cluster)) await endProcess(pid, { signals: STOP_SIGNALS, graceMs: 3_000 });
  else await rm(lockFile, { force: true });
}

/** Starts PostgreSQL on loopback with its files in the data folder, and resolves once it accepts connections. */
export async function startPostgres({ dataDir, port, progress }: PostgresOptions): Promise<PostgresService> {
  await mkdir(dataDir, { recursive: true });
  const { cluster, pidFile, portFile, passwordFile, logFile } = pathsOf(dataDir);
  const user = await choosePostgresUser(cluster);
  const programs = await providePrograms(user, { progress });
  const password = await readOrCreateSecret(passwordFile, () => randomBytes(24).toString("base64url"));
  await ensureCluster(cluster, { programs, user, password });
  const chosenPort = port === 0 ? await choosePort(portFile) : port;
  const args = [
    `-D${WORKING_FOLDER}`,
    `-p${chosenPort}`,
    "-clisten_addresses=127.0.0.1",
    "-cunix_socket_directories=",
    // PostgreSQL ignores this setting. It adds the data folder to the command line, where a later `endStalePostgres`
    // looks for it.
    `-cparley.cluster=${cluster}`,
  ];
  const server = await startServer({
    name: "PostgreSQL",
    port: chosenPort,
    command: programs.postgres,
    args,
    pidFile,
    logFile,
    stopSignals: STOP_SIGNALS,
    place: placeOf(cluster, user),
    isReady: (pid) => isReady(cluster, pid),
    readyWithinMs: 60_000,
  });
  progress(`PostgreSQL is ready on port ${chosenPort}`);
  const url = `postgres://${SUPERUSER}:${password}@127.0.0.1:${chosenPort}/${DATABASE}`;
  return { url, ...server };
}

/** Checks whether the server is ready, as pg_ctl does: line 1 of postmaster.pid is the process id, line 8 the state. */
async function isReady(cluster: string, pid: number): Promise<boolean> {
  const lines = (await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
  return Number(lines[0]) === pid && lines[7]?.trim() === "ready";
}

async function choosePort(portFile: string): Promise<number> {
  const remembered = Number(await readFile(portFile, "utf8").catch(() => "0"));
  const port = (await probeTcpPort(remembered)) ?? (await probeTcpPort(0));
  if (port === undefined) throw new AppError("unavailable", "No free port for PostgreSQL on 127.0.0.1");
  await writeFile(portFile, String(port));
  return port;
}
