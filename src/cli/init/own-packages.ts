import { IS_PUBLISHED } from "../published.ts";
import { OWN_VERSION } from "../../worker/own-package.ts";

/**
 * The subfolder of an agent's folder that contains the archives of Parley's packages, until the packages are published.
 */
export const ARCHIVES_FOLDER = "packages";

/** Returns the file name that `npm pack` gives to one of Parley's packages: `parley-client-0.1.0.tgz`. */
export function archiveOf(name: string): string {
  return `${name.replace("@", "").replace("/", "-")}-${OWN_VERSION}.tgz`;
}

/** Returns the version of one of Parley's packages to write into an agent's package.json. */
export function specOf(name: string): string {
  return IS_PUBLISHED ? OWN_VERSION : `file:${ARCHIVES_FOLDER}/${archiveOf(name)}`;
}
