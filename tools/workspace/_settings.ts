import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";

/** Shared by the tools of this group, as `toolSettings.workspace`; without it they are off. */
export const workspaceSettings = z
  .strictObject({
    /** The folder that they work in. It must exist; links in its own path are followed once, at start. */
    root: z.string().min(1).transform(toFolder),
    /** What runs a command, which is added as the last argument: a place for a sandbox. */
    shell: z.array(z.string().min(1)).min(1).default(["bash", "--noprofile", "--norc", "-c"]),
  })
  .optional();

export type WorkspaceSettings = NonNullable<z.output<typeof workspaceSettings>>;

/** The entry of `toolSettings` in which it is. */
export const WORKSPACE = "workspace";

function toFolder(path: string, context: z.RefinementCtx): string {
  try {
    const real = realpathSync(resolve(path));
    if (statSync(real).isDirectory()) return real;
  } catch {
    // Said below.
  }
  context.addIssue({ code: "custom", message: "expected a folder that exists" });
  return z.NEVER;
}

/** Tools of this group are loaded with settings only; this is for who calls one by itself. */
export function rootOf(settings: WorkspaceSettings | undefined): string {
  if (settings === undefined) throw new Error("The workspace is not configured: set toolSettings.workspace.root");
  return settings.root;
}
