import { glob } from "node:fs/promises";

/**
 * Returns the paths of an author's modules in a folder and its subfolders, sorted. Excludes files that start with `_`
 * and declarations (`.d.ts`).
 */
export async function findModules(folder: string): Promise<readonly string[]> {
  const files = await Array.fromAsync(glob("**/[!_]*.ts", { cwd: folder }));
  return files.filter((file) => !file.endsWith(".d.ts")).toSorted();
}
