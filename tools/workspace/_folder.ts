import { constants, existsSync } from "node:fs";
import { lstat, mkdir, open, realpath, type FileHandle } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { OutsideError, insidePath } from "./_path.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
/**
 * In this folder, Linux lists the files that a process has open. A path below the entry of an open folder leads into
 * that folder, even if the folder was moved.
 */
const DESCRIPTORS = "/proc/self/fd";
const HAS_DESCRIPTORS = existsSync(DESCRIPTORS);

/**
 * A workspace folder that is kept open until it is disposed of. On Linux, a path from `at(name)` leads into exactly
 * this folder, even if a part of the folder's path is later replaced by a link. Other systems use the path itself.
 */
export class Folder implements AsyncDisposable {
  /** The path with all links resolved. */
  readonly path: string;
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.path = path;
  }

  /** @throws {OutsideError} if the folder is neither `root` nor below it */
  static async open(root: string, path: string): Promise<Folder> {
    if (!isWithin(root, path)) throw new OutsideError();
    const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    try {
      const real = HAS_DESCRIPTORS ? await realpath(`${DESCRIPTORS}/${handle.fd}`) : await realpath(path);
      if (!isWithin(root, real)) throw new OutsideError();
      return new Folder(handle, real);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Returns a path to an entry of the folder. `name` is a single name, not a path. */
  at(name: string): string {
    return join(HAS_DESCRIPTORS ? `${DESCRIPTORS}/${this.#handle.fd}` : this.path, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}

/** A file or folder in the workspace, with the folder that contains it. Must be disposed of. */
export interface Entry extends AsyncDisposable {
  readonly folder: Folder;
  readonly name: string;
  /** The path from the root, with links resolved. */
  readonly shown: string;
}

interface FindOptions {
  /** Whether missing parent folders are created. @defaultValue false */
  readonly creates?: boolean;
  /** The permitted paths. Finding any other path throws. @defaultValue any path */
  readonly permitted?: readonly string[] | undefined;
}

/**
 * Finds the entry that a path from the model leads to. Links are followed if they stay inside the workspace.
 *
 * @param path relative to the root
 * @throws {OutsideError} for a path that is not below `root`, and an error with a message for the model if a folder is
 * missing
 */
export async function findEntry(
  root: string,
  path: string,
  { creates = false, permitted }: FindOptions = {},
): Promise<Entry> {
  const target = resolve(root, insidePath(path));
  try {
    const real = await realpath(target).catch(ignoreMissing);
    if (real === root) throw new Error("The path is the workspace itself, which is a folder");
    const folder = real === undefined ? await parentOf(root, target, creates) : await Folder.open(root, dirname(real));
    const name = basename(real ?? target);
    const shown = relative(root, join(folder.path, name));
    if (permitted && !permitted.includes(shown)) {
      await folder[Symbol.asyncDispose]();
      throw new Error("The path no longer leads where it led when permission was given");
    }
    return { folder, name, shown, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
  } catch (error) {
    throw shownError(error as NodeJS.ErrnoException);
  }
}

/**
 * Opens the parent folder of an entry that does not exist (or is a broken link). With `creates`, missing folders are
 * created.
 */
async function parentOf(root: string, target: string, creates: boolean): Promise<Folder> {
  const missing: string[] = [];
  let path = dirname(target);
  let real: string | undefined;
  while ((real = await realpath(path).catch(ignoreMissing)) === undefined) {
    missing.unshift(basename(path));
    path = dirname(path);
  }
  if (!creates && missing.length > 0) throw missingError(relative(root, target));
  let folder = await Folder.open(root, real);
  for (const name of missing) {
    try {
      await mkdir(folder.at(name)).catch(ignoreExisting);
      const { path: parent } = folder;
      if (!(await lstat(folder.at(name))).isDirectory()) throw new OutsideError();
      const next = await Folder.open(root, join(parent, name));
      await folder[Symbol.asyncDispose]();
      folder = next;
    } catch (error) {
      await folder[Symbol.asyncDispose]();
      throw error;
    }
  }
  return folder;
}

export function missingError(shown: string): Error {
  return new Error(`There is no ${JSON.stringify(shown)} in the workspace`);
}

function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

/** Describes a system error for the model, without the path. */
export function shownError(error: NodeJS.ErrnoException): Error {
  const reasons: Record<string, string> = {
    EACCES: "The worker is not allowed to do that",
    EISDIR: "The path is a folder",
    ELOOP: "The path is a broken or circular link",
    ENAMETOOLONG: "The path is too long",
    ENOSPC: "The disk is full",
    ENOTDIR: "A part of the path is not a folder",
    EROFS: "The workspace is read-only",
  };
  if (error.code === undefined) return error;
  return new Error(reasons[error.code] ?? `The operation failed (${error.code})`, { cause: error });
}
