import { existsSync } from "node:fs";
import { glob, stat } from "node:fs/promises";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");

/** Whether a built file exists and is newer than all repository files that match these globs. */
export async function isNewer(built: string, sources: readonly string[]): Promise<boolean> {
  if (!existsSync(built)) return false;
  const { mtimeMs } = await stat(built);
  for await (const source of glob(sources, { cwd: ROOT }))
    if ((await stat(join(ROOT, source))).mtimeMs > mtimeMs) return false;
  return true;
}
