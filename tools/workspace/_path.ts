import { lstatSync, opendirSync, readlinkSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { z } from "zod";
import { plainPath } from "../../src/lib/plain-path.ts";
import { rootOf, type WorkspaceSettings } from "./_settings.ts";

/** The maximum number of links to follow, the same as on Linux. */
const MAX_HOPS = 40;
/** How many entries of a folder are tried, at most, to find out whether the folder ignores case. */
const MAX_TRIED = 20;

export const workspacePath = z.string().min(1).max(4_096).describe("Path from the workspace's root");

export class OutsideError extends Error {
  constructor() {
    super("The path is outside the workspace");
  }
}

/**
 * Returns the path in its canonical spelling. An absolute path is rejected even if it leads into the workspace:
 * otherwise the file would have two names, and a rule for one of them would not apply to the other.
 *
 * @throws {Error} with a message for the model, for a path that is absolute or leads out of the workspace without a
 * link
 */
export function insidePath(path: string): string {
  if (path.includes("\0")) throw new Error("The path contains a NUL character");
  const plain = plainPath(path);
  if (isAbsolute(plain)) throw new Error("The path is absolute: expected one relative to the workspace's root");
  if (plain === ".." || plain.startsWith("../")) throw new OutsideError();
  return plain;
}

interface PathInput {
  readonly path: string;
}

/** Returns the `permission` of a tool that works on one file. A call needs permission for each of the file's names. */
export function filePermission(type: "read" | "edit", verb: string) {
  return {
    type,
    pattern: ({ path }: PathInput, settings: WorkspaceSettings | undefined) => pathNames(rootOf(settings), path),
    ignoresCase: ({ path }: PathInput, settings: WorkspaceSettings | undefined) => ignoresCase(rootOf(settings), path),
    title: ({ path }: PathInput) => `${verb} ${insidePath(path)}`,
  };
}

/**
 * Returns all names of a path: the path itself, and the target of each link along it. The last name is the file's real
 * name.
 */
export function pathNames(root: string, path: string): string[] {
  return namesFrom(root, resolve(root, insidePath(path)));
}

/** Returns all names of a path except the path itself. The path may be absolute or lead out of the workspace. */
export function linkNames(root: string, path: string): string[] {
  return namesFrom(root, resolve(root, path)).filter((name) => name !== path);
}

function namesFrom(root: string, path: string): string[] {
  const names = new Set<string>();
  let target: string | undefined = path;
  for (let hop = 0; hop < MAX_HOPS && target !== undefined; hop++) {
    names.add(relative(root, target) || ".");
    target = followFirstLink(target);
  }
  return [...names];
}

/** Replaces the first link in a path with its target. Returns `undefined` if there is no link. */
function followFirstLink(path: string): string | undefined {
  const parts = path.split(sep);
  for (let end = 2; end <= parts.length; end++) {
    const part = parts.slice(0, end).join(sep);
    const stats = look(part);
    if (!stats) return undefined;
    if (stats.isSymbolicLink()) return resolve(dirname(part), readlinkSync(part), ...parts.slice(end));
  }
  return undefined;
}

/** Whether case is ignored in the folder that a path leads to, or in the nearest existing parent folder. */
function ignoresCase(root: string, path: string): boolean {
  let folder = resolve(root, pathNames(root, path).at(-1) ?? ".");
  while (!look(folder)?.isDirectory() && folder !== dirname(folder)) folder = dirname(folder);
  for (const name of someNames(folder)) {
    const other = name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase();
    if (other === name) continue;
    const [one, two] = [look(join(folder, name)), look(join(folder, other))];
    return one !== undefined && one.ino === two?.ino && one.dev === two.dev;
  }
  // None of the names was conclusive. These two systems ignore case by default.
  return process.platform === "darwin" || process.platform === "win32";
}

function* someNames(folder: string): Generator<string> {
  try {
    using entries = opendirSync(folder);
    for (let tried = 0; tried < MAX_TRIED; tried++) {
      const entry = entries.readSync();
      if (!entry) return;
      yield entry.name;
    }
  } catch {
    // A folder that cannot be read yields no names.
  }
}

function look(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // The path cannot be reached; the tool will report why.
    return undefined;
  }
}
