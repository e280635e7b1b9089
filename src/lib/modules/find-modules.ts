import { glob } from "node:fs/promises";

/**
 * Returns the paths of an author's modules below a folder, sorted. Files that begin with `_` and declarations (`.d.ts`) are
 * left out.
 */
export async function findModules(folder: string): Promise<readonly string[]> {
  const files = await Array.fromAsync(glob("**/[!_]*.ts", { cwd: folder }));
  return files.filter((file) => !file.endsWith(".d.ts")).toSorted();
}
