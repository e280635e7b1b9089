import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type LivekitServer } from "../../conformance/wire/room-end.ts";
import { isUdpPortFree, probeTcpPort } from "../../worker/process/ports.ts";
import { startLivekitServer } from "../../worker/services/livekit-server.ts";
import { UsageError } from "../talk/options.ts";

/** The LiveKit of the environment, or one of our own that ends with us. */
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
  const server = await startLivekitServer({ dataDir, cacheDir, port: await findFreePorts(), progress });
  return {
    ...server,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

const TRIES = 50;

/** @returns the first of three neighbouring ports, as livekit-server wants them */
async function findFreePorts(): Promise<number> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const first = 21_000 + Math.floor(Math.random() * 10_000);
    const tcp = await Promise.all([first, first + 1].map((port) => probeTcpPort(port)));
    if (tcp.every((port) => port !== undefined) && (await isUdpPortFree(first + 2))) return first;
  }
  throw new Error("No three neighbouring ports are free for livekit-server");
}
