import { defineTool } from "parley";
import { z } from "zod";
import { oneAtATime } from "./_one-at-a-time.ts";
import { filePermission, workspacePath } from "./_path.ts";
import { rootOf, WORKSPACE, workspaceSettings } from "./_settings.ts";
import { writeText } from "./_text-file.ts";

export default defineTool({
  description:
    "Writes a text file of the workspace: a new one, or in the place of one that is there. Folders on the way are " +
    "made. To change a part of a file use edit.",
  input: z.strictObject({
    path: workspacePath,
    content: z.string().max(1_000_000),
  }),
  settings: workspaceSettings,
  sharedSettings: WORKSPACE,
  permission: filePermission("edit", "Write"),
  timeoutMs: 10_000,
  run: async ({ path, content }, { settings, signal, log, permitted }) => {
    const root = rootOf(settings);
    const shown = await oneAtATime(() => writeText(root, path, { text: content, permitted }), signal);
    const sizeBytes = Buffer.byteLength(content);
    log(`wrote ${shown}, ${sizeBytes} bytes`);
    return { path: shown, sizeBytes };
  },
});
