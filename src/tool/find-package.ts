import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Returns the URL of a package, or `undefined` if the package is not installed. Resolves it from this module or, if
 * that fails, from the agent's folder: development packages are dependencies of the agent, and pnpm hides them from all
 * other packages.
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
