import { readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { Folder } from "./_folder.ts";

const MAX_ENTRIES = 100_000;
/** Folders that are skipped, because they are generated and large. */
const LEFT_OUT = new Set([".git", "node_modules"]);

/**
 * Yields the path of each file below the root, relative to the root and sorted by name. Links are neither followed nor
 * yielded.
 */
export async function* walk(root: string, signal: AbortSignal): AsyncGenerator<string> {
  const folders = [root];
  let seen = 0;
  for (let path = folders.pop(); path !== undefined; path = folders.pop()) {
    await using folder = await Folder.open(root, path).catch(() => undefined);
    if (!folder) continue;
    const entries = await readdir(folder.at("."), { withFileTypes: true }).catch(() => []);
    const found: string[] = [];
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      signal.throwIfAborted();
      if (++seen > MAX_ENTRIES) throw new Error(`The workspace has more than ${MAX_ENTRIES} files: too many to search`);
      if (entry.isDirectory() && !LEFT_OUT.has(entry.name)) found.push(join(folder.path, entry.name));
      else if (entry.isFile()) yield relative(root, join(folder.path, entry.name)).replaceAll(sep, "/");
    }
    folders.push(...found.toReversed());
  }
}
