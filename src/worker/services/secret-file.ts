import { readFile, rename, writeFile } from "node:fs/promises";

/** Reads the file. If it is missing, first writes the result of `create` to it, readable by its owner only. */
export async function readOrCreateSecret(path: string, create: () => string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const secret = create();
  await writeFile(`${path}.new`, secret, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return secret;
}
