import { type FSWatcher, readdirSync, watch } from "node:fs";
import { join } from "node:path";

/** Nobody edits these, and some change all the time. */
const isLeftOut = (folder: string) => folder.startsWith(".") || ["node_modules", "dist", "test"].includes(folder);
const isSource = (file: string) => /(?:\.[cm]?[jt]s|\.json|(?:^|\/)\.env)$/.test(file);

/**
 * Calls back with the name of each source that changes in `folder`, until the signal aborts. Folders that are made
 * later beside those that are there are not watched: start again.
 */
export function watchSources(folder: string, signal: AbortSignal, onChange: (file: string) => void): void {
  const folders = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !isLeftOut(entry.name))
    .map(({ name }) => name);
  const report = (file: string | null) => {
    if (file !== null && isSource(file)) onChange(file);
  };
  const watchers: FSWatcher[] = [
    watch(folder, { signal }, (_, file) => report(file)),
    ...folders.map((name) =>
      watch(join(folder, name), { signal, recursive: true }, (_, file) => report(file && join(name, file))),
    ),
  ];
  // A folder that is removed ends its watch, and nothing else.
  for (const watcher of watchers) watcher.on("error", () => {});
}
