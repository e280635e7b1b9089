import { parseArgs } from "node:util";
import { UsageError } from "../talk/options.ts";

/**
 * Reads a command line that names one folder.
 *
 * @param otherwise the folder when none is named; without it a folder must be named
 * @returns `undefined` for `--help`. @throws {UsageError}
 */
export function readFolder(args: readonly string[], otherwise?: string): string | undefined {
  const { values, positionals } = readArguments(args);
  if (values.help) return undefined;
  const folder = positionals[0] || otherwise;
  if (folder === undefined || positionals.length > 1)
    throw new UsageError(`expected one folder, got ${positionals.length}`);
  return folder;
}

function readArguments(args: readonly string[]) {
  try {
    const options = { help: { type: "boolean", default: false } } as const;
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
