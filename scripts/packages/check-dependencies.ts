import { execFile } from "node:child_process";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { programEnvironment } from "../../src/tool/program-environment.ts";

const ROOT = join(import.meta.dirname, "../..");

/**
 * Checks that each of the built packages in `folder` lists exactly those packages that its files import. Imported types
 * count, too. knip parses the files, so comments and strings do not count. @throws {Error} with knip's report
 */
export async function checkDependencies(folder: string): Promise<void> {
  for (const name of ["package.json", "knip.jsonc"]) await cp(join(ROOT, "packages", name), join(folder, name));
  const issues = ["--include", "dependencies,unlisted", "--exclude", "optionalPeerDependencies"];
  // By default, knip would skip the build's folder, which is in .gitignore.
  const args = [join(ROOT, "node_modules/knip/bin/knip.js"), "--directory", folder, "--no-gitignore", ...issues];
  await promisify(execFile)(process.execPath, args, { env: programEnvironment() }).catch((error: unknown) => {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`A package.json in packages/ does not match the built files.\n${stdout}${stderr}`);
  });
}
