import { lstatSync, opendirSync, readlinkSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { z } from "zod";
import { plainPath } from "../../src/lib/plain-path.ts";
import { rootOf, type WorkspaceSettings } from "./_settings.ts";

/** As many links as Linux follows. */
const MAX_HOPS = 40;
/** Entries of a folder that are looked at for one whose name has an upper and a lower case. */
const MAX_TRIED = 20;

export const workspacePath = z.string().min(1).max(4_096).describe("Path from the workspace's root");

export class OutsideError extends Error {
  constructor() {
    super("The path is outside of the workspace");
  }
}

/**
 * The path without detours. An absolute one is refused even where it leads inside: the same file would have two names
 * then, and a rule for the one would say nothing of the other.
 *
 * @throws {Error} fit for the model, for a path that leads out of the workspace by itself
 */
export function insidePath(path: string): string {
  if (path.includes("\0")) throw new Error("The path holds a NUL");
  const plain = plainPath(path);
  if (isAbsolute(plain)) throw new Error("The path is absolute: expected one from the workspace's root");
  if (plain === ".." || plain.startsWith("../")) throw new OutsideError();
  return plain;
}

interface PathInput {
  readonly path: string;
}

/** What a tool that works on one file asks permission for: the file, by each of its names. */
export function filePermission(type: "read" | "edit", verb: string) {
  return {
    type,
    pattern: ({ path }: PathInput, settings: WorkspaceSettings | undefined) => pathNames(rootOf(settings), path),
    ignoresCase: ({ path }: PathInput, settings: WorkspaceSettings | undefined) => ignoresCase(rootOf(settings), path),
    title: ({ path }: PathInput) => `${verb} ${insidePath(path)}`,
  };
}

/** A path's own name and, where it goes over links, each name that they lead to; the last one is that of the file. */
export function pathNames(root: string, path: string): string[] {
  const names = new Set<string>();
  let target: string | undefined = resolve(root, insidePath(path));
  for (let hop = 0; hop < MAX_HOPS && target !== undefined; hop++) {
    names.add(relative(root, target) || ".");
    target = followFirstLink(target);
  }
  return [...names];
}

/** The path that the first link on the way leads to; nothing when none is. */
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

/** Whether the folder that a path leads to, or the nearest one that is there, takes `A` for `a`. */
function ignoresCase(root: string, path: string): boolean {
  let folder = resolve(root, pathNames(root, path).at(-1) ?? ".");
  while (!look(folder)?.isDirectory() && folder !== dirname(folder)) folder = dirname(folder);
  for (const name of someNames(folder)) {
    const other = name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase();
    if (other === name) continue;
    const [one, two] = [look(join(folder, name)), look(join(folder, other))];
    return one !== undefined && one.ino === two?.ino && one.dev === two.dev;
  }
  // An empty folder does not tell; these systems' folders are so unless somebody has made them otherwise.
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
    // What cannot be read cannot be worked in either.
  }
}

function look(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // No way leads there, and the tool says why.
    return undefined;
  }
}
