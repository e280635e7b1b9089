import picomatch from "picomatch";
import { z } from "zod";
import { literalPattern } from "../../src/lib/literal-pattern.ts";
import { defineTool } from "../../src/tool/define-tool.ts";
import { rootOf, WORKSPACE, workspaceSettings } from "./_settings.ts";
import { walk } from "./_walk.ts";

export default defineTool({
  description:
    "Finds files of the workspace by a glob pattern such as **/*.ts or docs/*.{md,txt}. Answers with their paths from the " +
    "workspace's root. Links, .git and node_modules are left out.",
  input: z.strictObject({
    pattern: z.string().min(1).max(500).describe("Glob pattern, from the workspace's root"),
    limit: z.int().min(1).max(1_000).default(200),
  }),
  settings: workspaceSettings,
  sharedSettings: WORKSPACE,
  permission: {
    type: "glob",
    pattern: ({ pattern }) => literalPattern(pattern),
    title: ({ pattern }) => `Find files by ${pattern}`,
  },
  readOnly: true,
  timeoutMs: 20_000,
  run: async ({ pattern, limit }, { settings, signal, log }) => {
    const isMatch = picomatch(pattern.replace(/^\.?\//, ""), { dot: true, maxLength: 500 });
    const paths: string[] = [];
    let truncated = false;
    for await (const path of walk(rootOf(settings), signal)) {
      if (!isMatch(path)) continue;
      truncated = paths.length === limit;
      if (truncated) break;
      paths.push(path);
      log(path);
    }
    return { paths, truncated };
  },
});
