import { IS_PUBLISHED } from "../published.ts";
import { OWN_VERSION } from "../../worker/own-package.ts";

/** The folder in an agent's folder that holds the archives of Parley's own packages, until a registry has them. */
export const ARCHIVES_FOLDER = "packages";

/** The file that `npm pack` makes of one of Parley's own packages: `parley-client-0.1.0.tgz`. */
export function archiveOf(name: string): string {
  return `${name.replace("@", "").replace("/", "-")}-${OWN_VERSION}.tgz`;
}

/** What an agent's package.json says of one of Parley's own packages. */
export function specOf(name: string): string {
  return IS_PUBLISHED ? OWN_VERSION : `file:${ARCHIVES_FOLDER}/${archiveOf(name)}`;
}
