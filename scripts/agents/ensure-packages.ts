import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { archiveOf } from "../../src/cli/init/own-packages.ts";
import { isNewer } from "../is-newer.ts";
import { installerEnvironment } from "../../src/tool/program-environment.ts";

const ROOT = join(import.meta.dirname, "../..");
const BUILT = join(ROOT, "dist");
const SOURCES = [
  "{src,tools,template,docs,scripts,web/src,web/public,clients/react,packages}/**/*",
  "web/*.{html,ts}",
  "package{,-lock}.json",
  "tsconfig*.json",
];
/** The archive that is built last. If it is new enough, so are all the others. */
const LAST = join(BUILT, archiveOf("create-parley"));

/**
 * Builds the packages, unless they are newer than all of their sources. Returns the folder that contains their
 * archives.
 */
export async function ensurePackages(): Promise<string> {
  if (await isNewer(LAST, SOURCES)) return BUILT;
  process.stdout.write("Building Parley's packages, which takes about half a minute …\n");
  execFileSync(process.execPath, [join(ROOT, "scripts/build-packages.ts")], {
    stdio: ["ignore", "ignore", "inherit"],
    env: installerEnvironment(),
  });
  return BUILT;
}
