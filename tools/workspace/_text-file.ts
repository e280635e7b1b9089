import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { findEntry, missingError, shownError, type Entry } from "./_folder.ts";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const MAX_FILE_BYTES = 5_000_000;

export interface TextFile {
  readonly text: string;
  /** The path from the root, with links resolved. */
  readonly shown: string;
}

/** The names that the call has permission for. The file must be found under one of them. */
type Permitted = readonly string[] | undefined;

/** Reads a whole text file in the workspace. @throws an error with a message for the model */
export async function readText(root: string, path: string, permitted?: Permitted): Promise<TextFile> {
  await using entry = await findEntry(root, path, { permitted });
  return { text: await readEntry(entry), shown: entry.shown };
}

async function readEntry({ folder, name, shown }: Entry): Promise<string> {
  // Without O_NONBLOCK, opening a pipe would wait forever.
  const handle = await open(folder.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      throw error.code === "ENOENT" ? missingError(shown) : shownError(error);
    },
  );
  await using file = handle;
  const stats = await file.stat();
  if (!stats.isFile()) throw new Error(stats.isDirectory() ? "The path is a folder" : "The path is not a regular file");
  const { size } = stats;
  if (size > MAX_FILE_BYTES) throw new Error(`The file has ${size} bytes, but at most ${MAX_FILE_BYTES} can be read`);
  const bytes = await file.readFile();
  if (bytes.includes(0)) throw new Error("The file is not text");
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** Writes a text file, completely or not at all, and creates missing folders. Resolves with the path from the root. */
export async function writeText(
  root: string,
  path: string,
  { text, permitted }: { readonly text: string; readonly permitted?: Permitted },
): Promise<string> {
  await using entry = await findEntry(root, path, { creates: true, permitted });
  await replace(entry, text);
  return entry.shown;
}

/** Changes a text file. `change` may throw to leave the file unchanged. Resolves with the path from the root. */
export async function changeText(
  root: string,
  path: string,
  { change, permitted }: { readonly change: (text: string) => string; readonly permitted?: Permitted },
): Promise<string> {
  await using entry = await findEntry(root, path, { permitted });
  await replace(entry, change(await readEntry(entry)));
  return entry.shown;
}

/**
 * Writes a new file and renames it to the old name. A hard link to the old file, possibly outside the workspace, keeps
 * the old content.
 */
async function replace({ folder, name }: Entry, text: string): Promise<void> {
  const target = folder.at(name);
  const before = await stat(target).catch(() => undefined);
  if (before && !before.isFile())
    throw new Error(before.isDirectory() ? "The path is a folder" : "The path is not a regular file");
  const draft = folder.at(`.${randomUUID()}.tmp`);
  try {
    const mode = before ? before.mode & 0o777 : 0o644;
    await using file = await open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    await file.writeFile(text);
    await file.close();
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw shownError(error as NodeJS.ErrnoException);
  }
}
