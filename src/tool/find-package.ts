import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * The address of a package that need not be there: as we find it, else as the agent's folder does. What only development
 * needs is the agent's own dependency, and pnpm shows it to no other package.
 */
export function findPackage(name: string): string | undefined {
  try {
    return import.meta.resolve(name);
  } catch {
    try {
      return pathToFileURL(createRequire(join(process.cwd(), "package.json")).resolve(name)).href;
    } catch {
      return undefined;
    }
  }
}
