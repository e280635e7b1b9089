import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of Parley's own sources. Stack frames in them do not help an author. */
const OWN_FILES = join(import.meta.dirname, "../../");
/** Matches the first line of a SyntaxError's stack: a path or URL, and the line number. */
const HEAD = /^(?<file>(?:file:\/\/|\/|[A-Za-z]:\\).*?)(?:\?[^:]*)?:(?<line>\d+)$/u;
/** Matches a stack frame: `at file:///tools/dice.ts:4:22`, or `at roll (file:///tools/dice.ts?v=2:4:22)`. */
const FRAME =
  /^\s+at (?:async )?(?:.*\()?(?<file>(?:file:\/\/|\/|[A-Za-z]:\\)[^?)]*?)(?:\?[^:)]*)?:(?<line>\d+):(?<column>\d+)\)?$/u;
/** Matches Node's message about a missing module: the path or the package, and the importing file. */
const NOT_FOUND = /^Cannot find (?:module|package) '(?<missing>.+)' imported from (?<importer>.+)$/mu;

/**
 * Returns why a module could not be loaded, with the file, line and column of the author's code that failed. The
 * failing code may be in an imported module. Skips frames in packages, Node and Parley.
 */
export function describeImportError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const lines = (error.stack ?? "").split("\n");
  const place = placeOfImport(error.message) ?? placeOfSyntaxError(lines) ?? lines.map(placeOfFrame).find(Boolean);
  // Node's error for a host with several addresses, none of which answers, has a code and no message.
  const message = error.message === "" && "code" in error ? String(error.code) : error.message;
  return place === undefined ? message : `${message} (at ${place})`;
}

/** Whether a line of a stack is a frame in the author's code, which is not in a package, Node or Parley. */
export function isOwnFrame(line: string): boolean {
  return placeOfFrame(line) !== undefined;
}

function placeOfFrame(line: string): string | undefined {
  return toPlace(FRAME.exec(line)?.groups);
}

/** The stack of a SyntaxError begins with the place, the line of code, and a line of carets under the wrong part. */
function placeOfSyntaxError([head = "", ...code]: readonly string[]): string | undefined {
  const place = HEAD.exec(head)?.groups;
  const carets = code.find((line) => /^\s*\^+\s*$/u.test(line));
  return place && toPlace({ ...place, column: String(1 + (carets ?? "^").indexOf("^")) });
}

/** Node's message about a missing module contains the importing file, but not where in this file the import is. */
function placeOfImport(message: string): string | undefined {
  const { missing = "", importer = "" } = NOT_FOUND.exec(message)?.groups ?? {};
  if (importer === "") return undefined;
  try {
    const source = readFileSync(importer, "utf8");
    const isMissing = ([, , name = ""]: RegExpExecArray) =>
      name.startsWith(".") ? resolve(dirname(importer), name) === missing : `${name}/`.startsWith(`${missing}/`);
    const { index } = [...source.matchAll(/(["'])([^"'\n]+)\1/gu)].find(isMissing) ?? {};
    if (index === undefined) return undefined;
    const before = source.slice(0, index).split("\n");
    return toPlace({ file: importer, line: String(before.length), column: String(1 + (before.at(-1)?.length ?? 0)) });
  } catch {
    return undefined;
  }
}

function toPlace(place: Readonly<Record<string, string>> | undefined): string | undefined {
  const { file = "", line, column } = place ?? {};
  const path = file.startsWith("file:") ? fileURLToPath(file) : file;
  if (path === "" || path.startsWith(OWN_FILES) || path.includes("node_modules")) return undefined;
  return `${displayPath(path)}:${line}:${column}`;
}

/** Returns a path for an error message: relative to the working folder, if the file is below it. */
export function displayPath(path: string): string {
  const near = relative(process.cwd(), path);
  return near.startsWith("..") ? path : near;
}
