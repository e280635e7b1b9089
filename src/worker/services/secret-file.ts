import { readFile, rename, writeFile } from "node:fs/promises";

/** The file's content. A missing file is first written with what `create` gives, readable by its owner only. */
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
