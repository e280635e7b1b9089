import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { buildLivekitServer } from "./build-livekit-server.ts";
import { type TellProgress } from "./service.ts";

/** The path of a livekit-server to run: the one on PATH, else the one in the cache, which is built when it is not there. */
export async function findLivekitServer(cacheDir: string, progress: TellProgress): Promise<string> {
  return (await findOnPath("livekit-server")) ?? (await buildLivekitServer(cacheDir, progress));
}

async function findOnPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter).filter(Boolean)) {
    const path = join(folder, name);
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
