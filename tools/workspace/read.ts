import { defineTool } from "parley";
import { z } from "zod";
import { filePermission, workspacePath } from "./_path.ts";
import { rootOf, WORKSPACE, workspaceSettings } from "./_settings.ts";
import { readText } from "./_text-file.ts";

const MAX_LINE_LENGTH = 2_000;
const MAX_LENGTH = 80_000;

export default defineTool({
  description:
    "Reads a text file of the workspace, by lines. Answers with the lines from offset on, how many lines the file " +
    "has, and whether some were left out.",
  input: z.strictObject({
    path: workspacePath,
    offset: z.int().min(1).default(1).describe("The first line, from 1"),
    limit: z.int().min(1).max(2_000).default(1_000),
  }),
  settings: workspaceSettings,
  sharedSettings: WORKSPACE,
  permission: filePermission("read", "Read"),
  readOnly: true,
  timeoutMs: 10_000,
  run: async ({ path, offset, limit }, { settings, log, permitted }) => {
    const { text, shown } = await readText(rootOf(settings), path, permitted);
    const lines = text.split(/\r?\n/);
    if (lines.at(-1) === "") lines.pop();
    const kept = fitting(lines.slice(offset - 1, offset - 1 + limit));
    for (const line of kept) log(line);
    const truncated = offset - 1 + kept.length < lines.length;
    return {
      path: shown,
      content: kept.join("\n"),
      offset,
      lineCount: kept.length,
      totalLines: lines.length,
      truncated,
    };
  },
});

/** Returns as many lines as fit into an answer. Long lines are truncated, with a marker. */
function fitting(lines: readonly string[]): string[] {
  const kept: string[] = [];
  let length = 0;
  for (const line of lines) {
    const shown = line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH).toWellFormed()}… [cut]` : line;
    length += shown.length + 1;
    if (length > MAX_LENGTH) break;
    kept.push(shown);
  }
  return kept;
}
