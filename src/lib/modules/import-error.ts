import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of Parley's own sources. Stack frames in them do not help an author. */
const OWN_FILES = join(import.meta.dirname, "../../");
/** Matches the first line of a SyntaxError's stack: a path or URL, and the line number. */
const HEAD = /^(?<file>(?:file:\/\/|\/|[A-Za-z]:\\).*?)(?:\?[^:]*)?:(?<line>\d+)$/u;
/** Matches a stack frame: `at file:///tools/dice.ts:4:22`, or `at roll (file:///tools/dice.ts?v=2:4:22)`. */
const FRAME =
  /^\s+at (?:async )?(?:.*\()?(?<file>(?:file:\/\/|\/|[A-Za-z]:\\)[^?)]*?)(?:\?[^:)]*)?:(?<line>\d+):\d+\)?$/u;

/**
 * Returns why a module could not be loaded, with the file and line of the author's code that failed. The failing code
 * may be in an imported module. Skips frames in packages, Node and Parley.
 */
export function describeImportError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node's message already names the importing file.
  if ("code" in error && error.code === "ERR_MODULE_NOT_FOUND") return error.message;
  const [head = "", ...lines] = (error.stack ?? "").split("\n");
  const place = toPlace(HEAD.exec(head)) ?? lines.map((line) => toPlace(FRAME.exec(line))).find(Boolean);
  return place === undefined ? error.message : `${error.message} (at ${place})`;
}

function toPlace(match: RegExpExecArray | null): string | undefined {
  const { file = "", line } = match?.groups ?? {};
  const path = file.startsWith("file:") ? fileURLToPath(file) : file;
  if (path === "" || path.startsWith(OWN_FILES) || path.includes("node_modules")) return undefined;
  const near = relative(process.cwd(), path);
  return `${near.startsWith("..") ? path : near}:${line}`;
}
