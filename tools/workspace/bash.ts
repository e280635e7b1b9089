import { defineTool } from "parley";
import { z } from "zod";
import { shellRedirects } from "../../src/permission/shell/command-operations.ts";
import { linkNames } from "./_path.ts";
import { runCommand } from "./_run-command.ts";
import { rootOf, WORKSPACE, workspaceSettings } from "./_settings.ts";

export default defineTool({
  description:
    "Runs a shell command in the workspace's root and answers with what it writes and its exit code. Nothing can " +
    "be typed into it, and what it leaves running is ended with it.",
  input: z.strictObject({
    command: z
      .string()
      .min(1)
      .max(10_000)
      .refine((text) => !text.includes("\0"), "must not contain NUL"),
  }),
  settings: workspaceSettings,
  sharedSettings: WORKSPACE,
  permission: {
    type: "bash",
    pattern: ({ command }, settings) => [command.trim() || command, ...linkedRedirects(rootOf(settings), command)],
    title: ({ command }) => `Run ${command}`,
  },
  // Nobody can check a command by ear.
  voiceApproval: false,
  timeoutMs: 120_000,
  run: async ({ command }, { settings, signal, log }) => {
    const root = rootOf(settings);
    const argv = [...(settings?.shell ?? []), command];
    return await runCommand({ argv, cwd: root, env: settings?.env ?? {}, signal, onLine: log });
  },
});

/**
 * Returns a command's redirections once more for each other name of a file. Other names are the target of each link
 * along the file's path and, if the path is absolute, the path from the workspace's root.
 */
function linkedRedirects(root: string, command: string): string[] {
  return shellRedirects(command).flatMap(({ sign, path }) =>
    linkNames(root, path).map((name) => `${sign} '${name.replaceAll("'", String.raw`'\''`)}'`),
  );
}
