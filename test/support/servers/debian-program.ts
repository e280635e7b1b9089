import { existsSync } from "node:fs";
import { glob, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { basename, delimiter, dirname, join } from "node:path";
import { runCommand } from "../../../src/worker/process/start-program.ts";

const CACHE = join(import.meta.dirname, "../../../.cache");

export interface DebianProgram {
  readonly command: string;
  /** The folder with the program's libraries; empty if the system has them. */
  readonly libraries: string;
}

interface Wanted {
  /** The name of the Debian package, and of its folder in the cache. */
  readonly name: string;
  /** The program's path in the package. */
  readonly path: string;
}

/**
 * A server from a Debian package: the installed one, or one unpacked from the package into the cache. Nothing is
 * installed, so no special rights are needed.
 *
 * @throws {Error} that says what to install, if neither is possible
 */
export async function debianProgram({ name, path }: Wanted): Promise<DebianProgram> {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];
  const installed = folders.map((folder) => join(folder, basename(path))).find((each) => existsSync(each));
  if (installed !== undefined) return { command: installed, libraries: "" };
  // The folder in the cache with the package's files, at the same paths as if the package were installed.
  const root = join(CACHE, name);
  if (!existsSync(root)) await unpackPackages(name, root);
  const [library] = await Array.fromAsync(glob("usr/lib/*/lib*.so*", { cwd: root }));
  return { command: join(root, path), libraries: library === undefined ? "" : join(root, dirname(library)) };
}

async function unpackPackages(name: string, root: string): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, `${name}-`));
  try {
    await mkdir(join(folder, "archives/partial"), { recursive: true });
    await download(name, join(folder, "archives"));
    for await (const archive of glob(join(folder, "archives/*.deb")))
      await runCommand("dpkg-deb", ["--extract", archive, join(folder, "root")]);
    // Another test file may have been faster.
    await rename(join(folder, "root"), root).catch((error: unknown) => {
      if (!existsSync(root)) throw error;
    });
  } catch (error) {
    const how = `This test needs ${name} on PATH, or Debian's or Ubuntu's apt-get to download it (apt-get update)`;
    throw new Error(`${how}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Downloads the package and those dependencies that the machine lacks. */
async function download(name: string, archives: string): Promise<void> {
  const options = [`Dir::Cache::Archives=${archives}`, "Debug::NoLocking=true", "APT::Sandbox::User="];
  const flags = ["--yes", "--download-only", "--no-install-recommends", ...options.flatMap((option) => ["-o", option])];
  const get = () => runCommand("apt-get", ["install", ...flags, name]);
  // The first attempt fails on a fresh machine, which has no package lists. Only root can load them.
  await get().catch(async () => {
    await runCommand("apt-get", ["update"]).catch(() => {});
    await get();
  });
}
