import type { Folder } from "./folder.ts";

/** The maximum size of a file that is read. */
const MAX_FILE_BYTES = 256 * 1_024;
const MAX_NAMES = 500;

interface FileText {
  readonly content: string;
  readonly size: number;
}

/** Reads a text file in the folder. @throws with a message for the model */
export async function readFile(folder: Folder, filePath: string): Promise<FileText> {
  const path = toNames(filePath);
  if (path.length === 0) throw new Error("filePath: expected a file in the shared folder");
  const file = await orInWords(() => folder.open(path), `File not found: ${filePath}`);
  if (file.size > MAX_FILE_BYTES) throw new Error(`The file is larger than ${MAX_FILE_BYTES} bytes: ${filePath}`);
  try {
    const content = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    return { content, size: file.size };
  } catch {
    throw new Error(`Not a text file, or not readable: ${filePath}`);
  }
}

/**
 * Lists the names in a folder in sorted order, up to a maximum number. The names of folders end in a slash. @throws
 * with a message for the model
 */
export async function listFiles(folder: Folder, folderPath: string): Promise<{ names: string[]; isCut: boolean }> {
  const path = toNames(folderPath);
  const names: string[] = [];
  const collect = async () => {
    for await (const name of folder.list(path)) {
      if (names.length === MAX_NAMES) return true;
      names.push(name);
    }
    return false;
  };
  const isCut = await orInWords(collect, `Folder not found: ${folderPath}`);
  return { names: names.toSorted(), isCut };
}

function toNames(path: string): readonly string[] {
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  if (names.includes("..")) throw new Error("The path is outside the shared folder");
  return names;
}

async function orInWords<Value>(run: () => Promise<Value>, notThere: string): Promise<Value> {
  try {
    return await run();
  } catch (error) {
    const { name } = error as Error;
    // A folder instead of a file, and a name that no file can have, also count as missing.
    if (["NotFoundError", "TypeMismatchError", "TypeError"].includes(name)) throw new Error(notThere, { cause: error });
    throw new Error("The browser no longer lets this page read the folder: the person must choose it again", {
      cause: error,
    });
  }
}
