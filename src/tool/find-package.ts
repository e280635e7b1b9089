import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Returns the URL of a package, resolved from here or else from the agent's folder, or `undefined` if it is not
 * installed. Development packages are dependencies of the agent, and pnpm hides them from all other packages.
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
