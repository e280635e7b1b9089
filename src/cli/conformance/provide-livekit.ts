import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { LivekitServer } from "../../conformance/wire/room-end.ts";
import { findLivekitPort } from "../../worker/process/ports.ts";
import { startLivekitServer } from "../../worker/services/livekit-server.ts";
import { UsageError } from "../talk/options.ts";

/** The LiveKit that the environment names; without one, a livekit-server that is started and ends with this process. */
export async function provideLivekit(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<LivekitServer & AsyncDisposable> {
  const { LIVEKIT_URL: url, LIVEKIT_API_KEY: apiKey, LIVEKIT_API_SECRET: apiSecret } = environment;
  if (url) {
    if (!apiKey || !apiSecret)
      throw new UsageError("LIVEKIT_URL is set, so are wanted: LIVEKIT_API_KEY, LIVEKIT_API_SECRET");
    return { url, apiKey, apiSecret, [Symbol.asyncDispose]: async () => {} };
  }
  const dataDir = await mkdtemp(join(tmpdir(), "parley-conformance-"));
  const cacheDir = resolve(environment["PARLEY_CACHE_DIR"] || ".cache");
  const progress = (line: string) => console.error(`conformance: ${line}`);
  const server = await startLivekitServer({ dataDir, cacheDir, port: await findLivekitPort(), progress });
  return {
    ...server,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
