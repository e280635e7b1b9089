import { setImmediate } from "node:timers/promises";
import { defineTool } from "parley";
import { z } from "zod";
import { matchesGlob } from "../../src/lib/glob.ts";
import { compileFileGlob } from "./_file-glob.ts";
import { rootOf, WORKSPACE, workspaceSettings } from "./_settings.ts";
import { walk } from "./_walk.ts";

/** How long names are matched at a time. After that, other work may run, such as the timer of a deadline. */
const TURN_MS = 10;

export default defineTool({
  description:
    "Finds files of the workspace by a glob pattern such as **/*.ts or docs/*.{md,txt}. Answers with their paths " +
    "from the workspace's root. Links, .git and node_modules are left out.",
  input: z.strictObject({
    pattern: z.string().min(1).max(500).describe("Glob pattern, from the workspace's root"),
    limit: z.int().min(1).max(1_000).default(200),
  }),
  settings: workspaceSettings,
  sharedSettings: WORKSPACE,
  permission: {
    type: "glob",
    pattern: ({ pattern }) => pattern,
    title: ({ pattern }) => `Find files by ${pattern}`,
  },
  readOnly: true,
  timeoutMs: 10_000,
  run: async ({ pattern, limit }, { settings, signal, log }) => {
    const glob = compileFileGlob(pattern.replace(/^\.?\//, ""));
    const paths: string[] = [];
    let truncated = false;
    let turnEnd = performance.now() + TURN_MS;
    for await (const path of walk(rootOf(settings), signal)) {
      if (performance.now() > turnEnd) {
        await setImmediate();
        turnEnd = performance.now() + TURN_MS;
      }
      if (!matchesGlob(glob, path)) continue;
      truncated = paths.length === limit;
      if (truncated) break;
      paths.push(path);
      log(path);
    }
    return { paths, truncated };
  },
});
