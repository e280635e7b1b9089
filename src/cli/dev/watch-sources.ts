import { readdirSync, watch } from "node:fs";
import { join } from "node:path";

/**
 * Whether a folder is not watched. These folders contain no sources of the running agent, and some of them change all
 * the time.
 */
const isLeftOut = (folder: string) => folder.startsWith(".") || ["node_modules", "dist", "test"].includes(folder);
const isSource = (file: string) => /(?:\.[cm]?[jt]s|\.json|(?:^|\/)\.env)$/.test(file);

/**
 * Calls `onChange` with the name of each source file that changes in `folder`, until the signal aborts. Folders that
 * are created later are not watched until a restart.
 *
 * Each folder has its own watcher. Many editors save by replacing the file, and on Linux a `recursive` watcher reports
 * only the first replacement.
 */
export function watchSources(folder: string, signal: AbortSignal, onChange: (file: string) => void): void {
  for (const below of ["", ...foldersIn(folder)]) {
    const watcher = watch(join(folder, below), { signal }, (_, name) => {
      const file = name === null ? "" : join(below, name);
      if (isSource(file)) onChange(file);
    });
    // Removing a folder ends its watcher with an error, which we ignore.
    watcher.on("error", () => {});
  }
}

function foldersIn(folder: string): string[] {
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !isLeftOut(entry.name))
    .map(({ name }) => name);
  return names.flatMap((name) => [name, ...foldersIn(join(folder, name)).map((below) => join(name, below))]);
}
