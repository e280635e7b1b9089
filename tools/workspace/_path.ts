import { posix } from "node:path";
import { z } from "zod";

/** Not absolute: the same file would have two names then, and a rule for the one would say nothing of the other. */
export const workspacePath = z
  .string()
  .min(1)
  .max(4_096)
  .refine((path) => !path.startsWith("/"), "must be a path from the workspace's root")
  .describe("Path from the workspace's root");

/** What rules are asked about: the path without detours. */
export function plainPath(path: string): string {
  return posix.normalize(path);
}
