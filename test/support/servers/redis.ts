import { join } from "node:path";
import { type RunningServer, startServer } from "../../../src/worker/process/start-program.ts";
import { debianProgram } from "./debian-program.ts";
import { findFreePorts } from "./free-ports.ts";
import { takesConnections } from "./pgbouncer.ts";

export interface Redis extends RunningServer {
  /** `host:port` */
  readonly address: string;
}

/** A Redis on loopback that keeps nothing. Whoever starts it closes it. */
export async function startRedis(folder: string): Promise<Redis> {
  const { command, libraries } = await debianProgram({ name: "redis-server", path: "usr/bin/redis-server" });
  const port = await findFreePorts(1);
  const server = await startServer({
    name: "redis-server",
    port,
    command,
    args: ["--bind", "127.0.0.1", "--port", String(port), "--save", "", "--appendonly", "no", "--dir", folder],
    pidFile: join(folder, "redis.pid"),
    logFile: join(folder, "redis.log"),
    stopSignals: ["SIGTERM", "SIGKILL"],
    place: { env: { ...process.env, LD_LIBRARY_PATH: libraries } },
    isReady: () => takesConnections(port),
    readyWithinMs: 10_000,
  });
  return { ...server, address: `127.0.0.1:${port}` };
}
