import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePorts } from "./free-ports.ts";
import { readPidFile } from "../../../src/worker/process/pid-file.ts";
import { startLivekitServer, type LivekitService } from "../../../src/worker/services/livekit-server.ts";

const CACHE_DIR = join(import.meta.dirname, "../../../.cache");

export interface OwnLivekit extends LivekitService {
  /** The process id of the first server. */
  readonly pid: number;
  /** Kills the server as a crash does. Resolves once it has exited. */
  readonly kill: () => Promise<void>;
  /** Restarts the server with the same address and keys. Its rooms are gone. */
  readonly restart: () => Promise<void>;
}

type Node = Pick<Parameters<typeof startLivekitServer>[0], "keys" | "redisAddress">;

/**
 * A separate livekit-server, for tests that run a worker: on the shared server, LiveKit would assign other test files'
 * rooms to that worker. Starts in about 0.1 s. The caller closes it.
 */
export async function startOwnLivekit(node: Node = {}): Promise<OwnLivekit> {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-livekit-"));
  const port = await findFreePorts(3);
  const start = () => startLivekitServer({ dataDir, cacheDir: CACHE_DIR, port, progress: () => {}, ...node });
  let server = await start();
  const pidOf = () => Number(readPidFile(join(dataDir, "livekit-server.pid")));
  const close = async () => {
    await server.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  const kill = async () => {
    process.kill(pidOf(), "SIGKILL");
    await server.ended;
  };
  const restart = async () => {
    server = await start();
  };
  return { ...server, pid: pidOf(), close, kill, restart };
}
