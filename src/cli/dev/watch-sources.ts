import { readdirSync, watch } from "node:fs";
import { join } from "node:path";

/** Nobody edits these, and some change all the time. */
const isLeftOut = (folder: string) => folder.startsWith(".") || ["node_modules", "dist", "test"].includes(folder);
const isSource = (file: string) => /(?:\.[cm]?[jt]s|\.json|(?:^|\/)\.env)$/.test(file);

/**
 * Calls back with the name of each source that changes in `folder`, until the signal aborts. Folders that are made
 * later are not watched: start again.
 *
 * Each folder has a watch of its own, because many editors save by replacing the file: on Linux, a `recursive` watch
 * reports the first replacement and no later one.
 */
export function watchSources(folder: string, signal: AbortSignal, onChange: (file: string) => void): void {
  for (const below of ["", ...foldersIn(folder)]) {
    const watcher = watch(join(folder, below), { signal }, (_, name) => {
      const file = name === null ? "" : join(below, name);
      if (isSource(file)) onChange(file);
    });
    // When a folder is removed its watch ends; that is no failure.
    watcher.on("error", () => {});
  }
}

function foldersIn(folder: string): string[] {
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !isLeftOut(entry.name))
    .map(({ name }) => name);
  return names.flatMap((name) => [name, ...foldersIn(join(folder, name)).map((below) => join(name, below))]);
}
