import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * The address of a package that may be missing, found from here or else from the agent's folder. Packages for
 * development are dependencies of the agent, and pnpm shows them to no other package.
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
