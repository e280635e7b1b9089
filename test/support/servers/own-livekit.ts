import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePorts } from "../../../src/worker/process/ports.ts";
import { startLivekitServer, type LivekitService } from "../../../src/worker/services/livekit-server.ts";

const CACHE_DIR = join(import.meta.dirname, "../../../.cache");

/**
 * A livekit-server of one's own, for tests that run a worker: on the shared one, LiveKit would give it the rooms of
 * other test files. Starts in about 0.1 s; whoever starts it closes it.
 */
export async function startOwnLivekit(): Promise<LivekitService> {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-livekit-"));
  const port = await findFreePorts(3);
  const server = await startLivekitServer({ dataDir, cacheDir: CACHE_DIR, port, progress: () => {} });
  const close = async () => {
    await server.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { ...server, close };
}
