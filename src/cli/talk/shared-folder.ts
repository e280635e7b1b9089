import { constants } from "node:fs";
import { open, realpath, stat } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { ToolError } from "../../client/index.ts";
import { TalkError } from "./talk-error.ts";

/** The size of the largest file that can be shared: a string in the protocol has at most 1 MiB. */
const MAX_FILE_BYTES = 1024 * 1024;

export interface FileText {
  readonly content: string;
  readonly size: number;
}

/** Resolves the folder's path, without symbolic links. @throws {TalkError} if it is not a folder */
export async function openFolder(folder: string): Promise<string> {
  try {
    const path = await realpath(folder);
    if ((await stat(path)).isDirectory()) return path;
  } catch {
    // A path that does not exist is reported below, like one that is not a folder.
  }
  throw new TalkError(`--folder: ${folder} is not a folder`);
}

/**
 * Reads a text file. Its path, with `..` and symbolic links resolved, must be inside the folder.
 *
 * @param folder as returned by `openFolder`
 * @throws {ToolError} with a message for the model, without paths outside the folder
 */
export async function readSharedFile(folder: string, filePath: string): Promise<FileText> {
  const path = await findInside(folder, filePath);
  // NOFOLLOW, because `path` was already resolved, so a symbolic link here has been created since. NONBLOCK, because
  // opening a pipe would otherwise wait for its writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => {
    throw new ToolError("execution_error", `The file cannot be read: ${filePath}`);
  });
  try {
    const status = await file.stat();
    if (!status.isFile()) throw new ToolError("execution_error", `Not a file: ${filePath}`);
    // Try to read one byte more than the file's size. Otherwise, a file that grows beyond the limit in the meantime
    // would go unnoticed.
    const buffer = Buffer.alloc(Math.min(status.size, MAX_FILE_BYTES) + 1);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    if (status.size > MAX_FILE_BYTES || bytesRead > MAX_FILE_BYTES) {
      throw new ToolError("result_too_large", `The file is larger than ${MAX_FILE_BYTES} bytes: ${filePath}`);
    }
    return { content: toText(buffer.subarray(0, bytesRead), filePath), size: bytesRead };
  } finally {
    await file.close();
  }
}

async function findInside(folder: string, filePath: string): Promise<string> {
  if (filePath.includes("\0"))
    throw new ToolError("invalid_parameters", "filePath: expected a path without NUL characters");
  const wanted = resolve(folder, filePath);
  // Check this before reading the disk: the errors must not reveal what exists outside the folder.
  if (!isInside(folder, wanted)) throw outside();
  const path = await realpath(wanted).catch(() => {
    throw new ToolError("execution_error", `File not found: ${filePath}`);
  });
  if (!isInside(folder, path)) throw outside();
  return path;
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function outside(): ToolError {
  return new ToolError("execution_error", "The path is outside the shared folder");
}

function toText(bytes: Uint8Array, filePath: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ToolError("execution_error", `Not a text file: ${filePath}`);
  }
}
