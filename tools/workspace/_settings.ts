import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";

/** Settings of all workspace tools, from `toolSettings.workspace`. Without these settings, the tools are off. */
export const workspaceSettings = z
  .strictObject({
    /** The folder that the tools work in, which must exist. Links in its path are resolved once, at startup. */
    root: z.string().min(1).transform(toFolder),
    /** The program that runs a command; the command is added as its last argument. A sandbox can be used here. */
    shell: z.array(z.string().min(1)).min(1).default(["bash", "--noprofile", "--norc", "-c"]),
    /**
     * Environment variables for commands, in addition to `PATH`, the language and the time zone. Without `HOME`, each
     * command gets a separate empty home folder.
     */
    env: z.record(z.string().regex(/^[A-Za-z_]\w*$/), z.string()).default({}),
  })
  .optional();

export type WorkspaceSettings = NonNullable<z.output<typeof workspaceSettings>>;

/** The entry of `toolSettings` with these settings. */
export const WORKSPACE = "workspace";

function toFolder(path: string, context: z.RefinementCtx): string {
  try {
    const real = realpathSync(resolve(path));
    if (statSync(real).isDirectory()) return real;
  } catch {
    // Reported below.
  }
  context.addIssue({ code: "custom", message: "expected a folder that exists" });
  return z.NEVER;
}

/**
 * Returns the workspace's root. Throws without settings, which only happens if code runs a tool directly: the worker
 * does not load the tools without settings.
 */
export function rootOf(settings: WorkspaceSettings | undefined): string {
  if (settings === undefined) throw new Error("The workspace is not configured: set toolSettings.workspace.root");
  return settings.root;
}
