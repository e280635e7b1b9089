import { join } from "node:path";
import { startServer } from "../../../src/worker/process/start-program.ts";
import { debianProgram } from "./debian-program.ts";
import { findFreePorts } from "./free-ports.ts";
import { takesConnections } from "./pgbouncer.ts";

export interface Redis {
  /** `host:port` */
  readonly address: string;
  /** Kills Redis and restarts it at the same address: its data is lost. */
  readonly lose: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** A Redis on loopback that stores nothing on disk. The caller closes it. */
export async function startRedis(folder: string): Promise<Redis> {
  const { command, libraries } = await debianProgram({ name: "redis-server", path: "usr/bin/redis-server" });
  const port = await findFreePorts(1);
  const start = () =>
    startServer({
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
  let server = await start();
  const lose = async () => {
    process.kill(server.pid, "SIGKILL");
    await server.ended;
    server = await start();
  };
  return { address: `127.0.0.1:${port}`, lose, close: () => server.close() };
}
