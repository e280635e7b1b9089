import { z } from "zod";
import { defineTool } from "../../src/tool/define-tool.ts";

interface GuardedOptions {
  readonly voiceApproval?: boolean;
  readonly allowEditedInput?: boolean;
  readonly timeoutMs?: number;
}

/**
 * A tool that asks for permission and writes nothing. `ran` lists the paths it was run with. For the path `broken`, its
 * pattern is empty.
 */
export function guardedTool(options: GuardedOptions = {}) {
  const ran: string[] = [];
  const tool = defineTool({
    description: "Writes a file.",
    input: z.object({ path: z.string().min(1) }),
    permission: {
      type: "edit",
      pattern: ({ path }) => (path === "broken" ? "" : path),
      title: ({ path }) => `Write ${path}`,
      metadata: ({ path }) => ({ folder: path.split("/")[0] ?? "" }),
    },
    ...options,
    run: ({ path }) => {
      ran.push(path);
      return `wrote ${path}`;
    },
  });
  return { tool, ran };
}
