import { existsSync } from "node:fs";
import { glob, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { runCommand, startServer } from "../../../src/worker/process/start-program.ts";
import { findFreePorts } from "./free-ports.ts";

const CACHE = join(import.meta.dirname, "../../../.cache");
/** What is in the packages, as if it were installed there. */
const ROOT = join(CACHE, "pgbouncer");
/** PgBouncer refuses to run as root. */
const AS_NOBODY = process.getuid?.() === 0 ? ["--user=nobody"] : [];

export interface PgBouncer extends AsyncDisposable {
  /** The database's address by way of PgBouncer. */
  readonly url: string;
}

interface PgBouncerOptions {
  /** @defaultValue transaction */
  readonly mode?: "transaction" | "session";
  /** Connections to the database. @defaultValue 3, for any number of clients */
  readonly poolSize?: number;
}

/** A PgBouncer in front of all databases of a server. */
export async function startPgBouncer(databaseUrl: string, options: PgBouncerOptions = {}): Promise<PgBouncer> {
  const { mode = "transaction", poolSize = 3 } = options;
  const program = await providePgBouncer();
  const folder = await mkdtemp(join(tmpdir(), "parley-pgbouncer-"));
  const port = await findFreePorts(1);
  const { hostname, port: databasePort, username, password } = new URL(databaseUrl);
  const settings = `
    [databases]
    * = host=${hostname} port=${databasePort} user=${username} password=${decodeURIComponent(password)}
    [pgbouncer]
    listen_addr = 127.0.0.1
    listen_port = ${port}
    unix_socket_dir =
    auth_type = any
    pool_mode = ${mode}
    default_pool_size = ${poolSize}
  `;
  const file = join(folder, "pgbouncer.ini");
  await writeFile(file, settings.replaceAll(/^ +/gm, ""), { mode: 0o600 });
  const server = await startServer({
    name: "PgBouncer",
    port,
    command: program.command,
    args: [...AS_NOBODY, file],
    pidFile: join(folder, "pid"),
    logFile: join(folder, "log"),
    // It waits for its clients at any other.
    stopSignals: ["SIGKILL"],
    place: { env: { ...process.env, LD_LIBRARY_PATH: program.libraries } },
    isReady: () => takesConnections(port),
    readyWithinMs: 10_000,
  });
  const close = async () => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { url: Object.assign(new URL(databaseUrl), { port: String(port) }).href, [Symbol.asyncDispose]: close };
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, "127.0.0.1");
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}

interface Program {
  readonly command: string;
  /** Where its libraries are, unless the system has them. */
  readonly libraries: string;
}

/** The installed one, or the distribution's package in the cache: nothing is installed, so no rights are needed. */
async function providePgBouncer(): Promise<Program> {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];
  const installed = folders.map((folder) => join(folder, "pgbouncer")).find((path) => existsSync(path));
  if (installed !== undefined) return { command: installed, libraries: "" };
  if (!existsSync(ROOT)) await unpackPackages();
  const [library] = await Array.fromAsync(glob("usr/lib/*/lib*.so*", { cwd: ROOT }));
  return {
    command: join(ROOT, "usr/sbin/pgbouncer"),
    libraries: library === undefined ? "" : join(ROOT, dirname(library)),
  };
}

async function unpackPackages(): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, "pgbouncer-"));
  try {
    await mkdir(join(folder, "archives/partial"), { recursive: true });
    await download(join(folder, "archives"));
    for await (const archive of glob(join(folder, "archives/*.deb")))
      await runCommand("dpkg-deb", ["--extract", archive, join(folder, "root")]);
    // Another test file may have been quicker.
    await rename(join(folder, "root"), ROOT).catch((error: unknown) => {
      if (!existsSync(ROOT)) throw error;
    });
  } catch (error) {
    const how = "These tests need PgBouncer on PATH, or Debian's or Ubuntu's apt-get to download it (`apt-get update`)";
    throw new Error(`${how}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** With what it needs and the machine does not have. */
async function download(archives: string): Promise<void> {
  const options = [`Dir::Cache::Archives=${archives}`, "Debug::NoLocking=true", "APT::Sandbox::User="];
  const flags = ["--yes", "--download-only", "--no-install-recommends", ...options.flatMap((option) => ["-o", option])];
  const get = () => runCommand("apt-get", ["install", ...flags, "pgbouncer"]);
  // A fresh machine has no lists of packages; only root can load them.
  await get().catch(async () => {
    await runCommand("apt-get", ["update"]).catch(() => {});
    await get();
  });
}
