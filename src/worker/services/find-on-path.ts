import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";

/** Returns the path of the first program on PATH that has this name, or `undefined`. */
export async function findOnPath(name: string): Promise<string | undefined> {
  const paths = (process.env["PATH"] ?? "").split(delimiter).filter(Boolean);
  for (const path of paths.map((folder) => join(folder, name))) {
    const isExecutable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable) return path;
  }
  return undefined;
}
