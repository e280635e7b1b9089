import { readWords, UsageError } from "../../worker/settings/command-line.ts";

/**
 * Parses a command line with one folder.
 *
 * @param otherwise the default folder; without it, the folder is required
 * @returns `undefined` for `--help`. @throws {UsageError}
 */
export function readFolder(args: readonly string[], otherwise?: string): string | undefined {
  const { values, positionals } = readWords(args, {});
  if (values.help) return undefined;
  const folder = positionals[0] || otherwise;
  if (folder === undefined || positionals.length > 1)
    throw new UsageError(`expected one folder, got ${positionals.length}`);
  return folder;
}
