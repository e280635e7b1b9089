import { defineTool } from "parley";
import { z } from "zod";
import { oneAtATime } from "./_one-at-a-time.ts";
import { filePermission, workspacePath } from "./_path.ts";
import { rootOf, WORKSPACE, workspaceSettings } from "./_settings.ts";
import { changeText } from "./_text-file.ts";

export default defineTool({
  description:
    "Replaces a text in a file of the workspace. oldString must be there exactly once, as it appears in the file, with " +
    "its spaces and line breaks; with replaceAll every occurrence is replaced.",
  input: z.strictObject({
    path: workspacePath,
    oldString: z.string().min(1).max(100_000),
    newString: z.string().max(100_000),
    replaceAll: z.boolean().default(false),
  }),
  settings: workspaceSettings,
  sharedSettings: WORKSPACE,
  permission: filePermission("edit", "Edit"),
  timeoutMs: 10_000,
  run: async ({ path, oldString, newString, replaceAll }, { settings, signal, log, permitted }) => {
    const root = rootOf(settings);
    let replaced = 0;
    const change = (text: string) => {
      const parts = text.split(oldString);
      replaced = parts.length - 1;
      if (replaced === 0) throw new Error("oldString is not in the file");
      if (replaced > 1 && !replaceAll)
        throw new Error(`oldString is in the file ${replaced} times: make it longer, or set replaceAll`);
      return parts.join(newString);
    };
    const shown = await oneAtATime(() => changeText(root, path, { change, permitted }), signal);
    for (const line of oldString.split("\n")) log(`- ${line}`);
    for (const line of newString.split("\n")) log(`+ ${line}`);
    return { path: shown, replaced };
  },
});
