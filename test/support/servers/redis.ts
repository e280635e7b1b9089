import { join } from "node:path";
import { connect } from "node:net";
import { once } from "node:events";
import { type RunningServer, startServer } from "../../../src/worker/process/start-program.ts";
import { debianProgram } from "./debian-program.ts";
import { findFreePorts } from "./free-ports.ts";

export interface Redis extends RunningServer {
  /** `host:port` */
  readonly address: string;
}

/** A Redis on loopback that keeps nothing. Whoever starts it closes it. */
export async function startRedis(folder: string): Promise<Redis> {
  const command = await debianProgram("redis-server");
  const port = await findFreePorts(1);
  const server = await startServer({
    name: "redis-server",
    port,
    command,
    args: ["--bind", "127.0.0.1", "--port", String(port), "--save", "", "--appendonly", "no", "--dir", folder],
    pidFile: join(folder, "redis.pid"),
    logFile: join(folder, "redis.log"),
    stopSignals: ["SIGTERM", "SIGKILL"],
    isReady: () => accepts(port),
    readyWithinMs: 10_000,
  });
  return { ...server, address: `127.0.0.1:${port}` };
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
