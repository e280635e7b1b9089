import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
/** Debian's servers are in a folder that users have not on their PATH. */
const FOLDERS = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"].filter(Boolean);

/**
 * Path of a program that Debian has a package for. Installs it where that may be done: as root, with apt.
 *
 * @throws {Error} that says what to install, where it can neither be found nor installed
 */
export async function debianProgram(name: string, debianPackage = name): Promise<string> {
  const found = await find(name);
  if (found !== undefined) return found;
  const missing = `${name} is missing: apt-get install ${debianPackage}`;
  if (process.getuid?.() !== 0 || (await find("apt-get")) === undefined) throw new Error(missing);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const install = () => run("apt-get", ["install", "-y", "--no-install-recommends", debianPackage], { env });
  // The list of packages may be old, or not there at all.
  await install().catch(async () => {
    await run("apt-get", ["update"], { env });
    await install();
  });
  const installed = await find(name);
  if (installed === undefined) throw new Error(missing);
  return installed;
}

async function find(name: string): Promise<string | undefined> {
  for (const path of FOLDERS.map((folder) => join(folder, name))) {
    const isExecutable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable) return path;
  }
  return undefined;
}
