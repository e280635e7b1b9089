import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readPidFile, removePidFile, tryPidFile } from "../process/pid-file.ts";
import type { ReportProgress } from "./service.ts";

export const LIVEKIT_VERSION = "1.13.5";

/** Returns the path at which livekit-server is cached, whether it is there yet or not. */
export function cachedLivekitServer(cacheDir: string): string {
  return join(cacheDir, `livekit-server-${LIVEKIT_VERSION}`, "livekit-server");
}

/**
 * Returns the path of the livekit-server in the cache. If it is missing, calls `make`, which must put it there. A call
 * during another call's `make`, in this or another process, waits for that one.
 */
export async function makeLivekitServer(
  cacheDir: string,
  progress: ReportProgress,
  make: (binary: string) => Promise<void>,
): Promise<string> {
  const binary = cachedLivekitServer(cacheDir);
  const folder = dirname(binary);
  const lock = join(folder, "build.pid");
  await mkdir(folder, { recursive: true });
  let isWaiting = false;
  while (!existsSync(binary)) {
    if (tryPidFile(lock)) {
      try {
        if (!existsSync(binary)) await make(binary);
      } finally {
        removePidFile(lock);
      }
    } else {
      if (!isWaiting) progress(`process ${readPidFile(lock) ?? "?"} is preparing livekit-server; waiting for it`);
      isWaiting = true;
      await sleep(300);
    }
  }
  return binary;
}
