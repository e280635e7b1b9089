/** A folder that the person picked. The browser does not allow access to anything outside this folder. */
export interface Folder {
  readonly name: string;
  /** Lists a subfolder, unsorted. Folder names end in a slash. */
  readonly list: (path: readonly string[]) => AsyncIterable<string> | Iterable<string>;
  readonly open: (path: readonly string[]) => Promise<File>;
}

type PickWindow = Window & { showDirectoryPicker?: () => Promise<FileSystemDirectoryHandle> };

/**
 * Asks the person for a folder. Resolves with `undefined` if the browser has no folder picker or the person did not
 * pick a folder.
 */
export async function pickFolder(): Promise<Folder | undefined> {
  try {
    const handle = await (window as PickWindow).showDirectoryPicker?.();
    return handle && fromHandle(handle);
  } catch (error) {
    // The person closed the picker.
    if (error instanceof DOMException && error.name === "AbortError") return undefined;
    throw error;
  }
}

export const hasPicker = (): boolean => (window as PickWindow).showDirectoryPicker !== undefined;

function fromHandle(root: FileSystemDirectoryHandle): Folder {
  const descend = async (path: readonly string[]) => {
    let folder = root;
    for (const name of path) folder = await folder.getDirectoryHandle(name);
    return folder;
  };
  return {
    name: root.name,
    list: async function* (path) {
      for await (const [name, { kind }] of (await descend(path)).entries())
        yield kind === "directory" ? `${name}/` : name;
    },
    open: async (path) => {
      const folder = await descend(path.slice(0, -1));
      return (await folder.getFileHandle(path.at(-1) ?? "")).getFile();
    },
  };
}

/** Creates a folder from a file input's files, whose paths start with the folder's name. */
export function fromFiles(files: readonly File[]): Folder | undefined {
  const byPath = new Map(files.map((file) => [file.webkitRelativePath.split("/").slice(1).join("/"), file]));
  const [first] = files;
  if (!first) return undefined;
  return {
    name: first.webkitRelativePath.split("/")[0] ?? "",
    list: (path) => {
      const prefix = path.map((name) => `${name}/`).join("");
      const below = [...byPath.keys()].filter((each) => each.startsWith(prefix));
      if (below.length === 0 && path.length > 0) throw new DOMException("", "NotFoundError");
      return new Set(below.map((each) => /^[^/]*\/?/.exec(each.slice(prefix.length))?.[0] ?? ""));
    },
    open: async (path) => {
      const file = byPath.get(path.join("/"));
      if (!file) throw new DOMException("", "NotFoundError");
      return file;
    },
  };
}
