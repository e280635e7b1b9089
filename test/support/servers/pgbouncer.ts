import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../../../src/worker/process/start-program.ts";
import { debianProgram } from "./debian-program.ts";
import { findFreePorts } from "./free-ports.ts";

/** PgBouncer refuses to run as root. */
const AS_NOBODY = process.getuid?.() === 0 ? ["--user=nobody"] : [];

export interface PgBouncer extends AsyncDisposable {
  /** The database's address through PgBouncer. */
  readonly url: string;
}

interface PgBouncerOptions {
  /** @defaultValue transaction */
  readonly mode?: "transaction" | "session";
  /** The number of connections to the database. @defaultValue 3, for any number of clients */
  readonly poolSize?: number;
}

/** Starts a PgBouncer in front of all databases of a server. */
export async function startPgBouncer(databaseUrl: string, options: PgBouncerOptions = {}): Promise<PgBouncer> {
  const { mode = "transaction", poolSize = 3 } = options;
  const program = await debianProgram({ name: "pgbouncer", path: "usr/sbin/pgbouncer" });
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
    // On any other signal, PgBouncer waits for its clients.
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

/** Whether anything listens on a port of this machine. */
export function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, "127.0.0.1");
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}
