import { existsSync } from "node:fs";
import { AppError } from "../../errors/app-error.ts";
import { buildLivekitServer } from "./build-livekit-server.ts";
import { downloadLivekitServer } from "./download-livekit-server.ts";
import { findOnPath } from "./find-on-path.ts";
import { cachedLivekitServer } from "./livekit-cache.ts";
import { pullLivekitImage } from "./livekit-image.ts";
import type { ReportProgress } from "./service.ts";

/** A program on this machine, or docker or podman, which has livekit-server's image. */
export type LivekitProgram = { readonly command: string } | { readonly containerClient: string };

/**
 * Returns the livekit-server on PATH or in the cache. If there is none, tries in this order: the image, LiveKit's
 * release, Go. A way that does not answer is given up after three seconds.
 *
 * @throws {AppError} `unavailable`, with what each way failed with
 */
export async function provideLivekitServer(cacheDir: string, progress: ReportProgress): Promise<LivekitProgram> {
  const found = await findLivekitServer(cacheDir);
  if (found !== undefined) return { command: found };
  const failures: string[] = [];
  const onFailed = (way: string) => (error: unknown) => {
    failures.push(`${way}: ${error instanceof Error ? error.message : String(error)}`);
  };
  const containerClient = await pullLivekitImage(progress).catch(onFailed("no image of livekit-server"));
  if (containerClient !== undefined) return { containerClient };
  const downloaded = await downloadLivekitServer(cacheDir, progress).catch(onFailed("no release of livekit-server"));
  if (downloaded !== undefined) return { command: downloaded };
  for (const failure of failures) progress(failure);
  try {
    return { command: await buildLivekitServer(cacheDir, progress) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError("unavailable", [error.message, ...failures].join("\n  "), { cause: error });
  }
}

/** Returns the path of the livekit-server on PATH or, if there is none, of the one in the cache. */
export async function findLivekitServer(cacheDir: string): Promise<string | undefined> {
  const cached = cachedLivekitServer(cacheDir);
  return (await findOnPath("livekit-server")) ?? (existsSync(cached) ? cached : undefined);
}
