import { IS_PUBLISHED } from "../published.ts";
import { OWN_VERSION } from "../../worker/own-package.ts";

/** The subfolder of an agent's folder with the archives of Parley's packages, until these are on a registry. */
export const ARCHIVES_FOLDER = "packages";

/** Returns the file name that `npm pack` gives to one of Parley's packages: `parley-client-0.1.0.tgz`. */
export function archiveOf(name: string): string {
  return `${name.replace("@", "").replace("/", "-")}-${OWN_VERSION}.tgz`;
}

/** Returns the version in an agent's package.json for one of Parley's packages. */
export function specOf(name: string): string {
  return IS_PUBLISHED ? OWN_VERSION : `file:${ARCHIVES_FOLDER}/${archiveOf(name)}`;
}
